import Diagnostics
import FastJSON
import Foundation
import TestKit
import Testing

@testable import Bridge

@Suite("Replay of a recording", .timeLimit(.minutes(1)))
struct ReplayCommandTests {
    /// A minute of walking, 1.8 steps a second.
    private func walk(_ folder: borrowing TemporaryDirectory) throws -> String {
        var text = "time_s,ax,ay,az\n"
        for row in 0..<3_000 {
            let time = Double(row) / 50
            let phase = 2 * Double.pi * 1.8 * time
            text += "\(100 + time),0.1,\(0.4 * sin(phase / 2)),\(9.81 + 2.5 * sin(phase) + 0.1 * sin(time * 217))\n"
        }
        let path = folder.file("walk.csv")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func run(_ change: (inout ReplayRequest) -> Void) async throws -> [JSON] {
        var request = ReplayRequest()
        change(&request)
        let printed = Guarded("")
        let context = CommandContext(
            configurationFile: nil,
            environment: [:],
            log: Log(program: "test", least: .error),
            output: { text in printed.withLock { $0 += text } }
        )
        try await ReplayCommand(request).run(context)
        return try printed.withLock { $0 }.split(separator: "\n").map { try JSON.parse(String($0)) }
    }

    @Test("each step is a line with stream, time and fields, and the summary is the last line")
    func printsLines() async throws {
        let folder = TemporaryDirectory()
        let path = try walk(folder)

        let lines = try await run {
            $0.file = path
            $0.derivations = ["steps"]
            $0.settings = [("height", "1.8")]
        }

        let steps = lines.filter { $0["stream"]?.string == "steps" }
        #expect((104...111).contains(steps.count))
        #expect(steps.last?["count"]?.int == steps.count)
        #expect((steps.first?["time_ns"]?.int64 ?? 0) > 99_000_000_000)
        #expect(steps.first?["cadence"]?.isNull == true)
        let summary = try #require(lines.last?["summary"])
        #expect(summary["steps"]?.int == steps.count)
        #expect((50...110).contains(summary["distance_m"]?.double ?? 0))
    }

    @Test("--summary prints one line, and several kinds share the file")
    func printsSummary() async throws {
        let folder = TemporaryDirectory()
        let path = try walk(folder)

        let lines = try await run {
            $0.file = path
            $0.derivations = ["steps", "shake", "activity"]
            $0.isSummaryOnly = true
        }

        #expect(lines.count == 1)
        #expect(lines[0]["summary"]?["shakes"]?.int == 0)
    }

    @Test("what cannot be meant ends with code 2 and says what can")
    func refuses() async throws {
        let folder = TemporaryDirectory()
        let path = try walk(folder)
        let wrong: [((inout ReplayRequest) -> Void, String)] = [
            ({ $0.derivations = ["stepz"] }, "there are steps, "),
            ({ $0.settings = [("heigth", "1.8")] }, "device, height"),
            ({ $0.settings = [("height", "18")] }, "0.5 to 2.5"),
            ({ $0.format = "fit" }, "csv, sensorlogger"),
        ]
        for (change, expected) in wrong {
            let error = await #expect(throws: CommandError.self) {
                _ = try await run {
                    $0.file = path
                    $0.derivations = ["steps"]
                    change(&$0)
                }
            }
            #expect(error?.exitCode == 2)
            #expect(error?.description.contains(expected) == true, "\(error?.description ?? "")")
        }
    }

    @Test("a file without what a derivation needs is refused with what that is")
    func refusesFiles() async throws {
        let folder = TemporaryDirectory()
        let path = folder.file("pressure.csv")
        try Data("time_s,pressure\n1,1013\n".utf8).write(to: URL(fileURLWithPath: path))

        let error = await #expect(throws: CommandError.self) {
            _ = try await run {
                $0.file = path
                $0.derivations = ["steps"]
            }
        }

        #expect(error?.description.contains("steps, which needs accelerometer") == true)
    }
}
