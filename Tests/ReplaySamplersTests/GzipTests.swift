import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import ReplaySamplers

/// The files here are compressed by the program `gzip`.
@Suite("Compressed files to replay", .timeLimit(.minutes(5))) struct GzipTests {
    private let directory = TemporaryDirectory()

    private func compress(_ file: String) throws {
        try ChildProcess.runBlocking("gzip", [file])
    }

    private func sampler(_ file: String) throws -> ReplaySampler {
        try ReplaySampler(
            ReplayConfiguration(stream: name("accelerometer"), file: file, speed: .asFastAsPossible, keepTime: true),
            time: ManualTime()
        )
    }

    private func write(rows: Int) throws -> String {
        let rows = (0..<rows).map { "\(1_790_000_000_000_000_000 + $0 * 10_000_000),\($0),0.\($0 % 1000),-9.81" }
        return try directory.write("time_ns,x,y,z\n" + rows.joined(separator: "\n") + "\n", to: "a.csv")
    }

    @Test("a gzip file is known by its content and replayed whole")
    func compressed() async throws {
        try compress(try write(rows: 50_000))
        let sink = CollectingSink()

        try await sampler(directory.file("a.csv.gz")).run(into: sink)

        #expect(
            sink.contents.samples(of: "accelerometer").map { $0.values[0].number } == (0..<50_000).map { Double($0) }
        )
    }

    @Test("a file that is cut gives what is right in it, then the error with the remedy")
    func truncated() async throws {
        try compress(try write(rows: 50_000))
        let data = try Data(contentsOf: URL(fileURLWithPath: directory.file("a.csv.gz")))
        try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: directory.file("cut")))
        let sampler = try sampler(directory.file("cut"))
        let sink = CollectingSink()

        let error = await #expect(throws: ReplayError.self) { try await sampler.run(into: sink) }

        #expect(sink.contents.count > 10_000)
        #expect(error?.description.contains("Copy it again") == true)
        #expect(sink.contents.words(of: "accelerometer") == ["ok", "error"])
    }

    @Test("a file that is replaced by one with another header is refused at the next run, and can be shown still")
    func replaced() async throws {
        let file = try directory.write("time_ns,x\n1,1\n", to: "a.csv")
        let sampler = try sampler(file)
        #expect(await sampler.readings().first?.values == [.real(1)])

        try directory.write("time_ns,x,y\n1,1,2\n", to: "a.csv")

        await #expect(throws: ReplayError.self) { try await sampler.run(into: CollectingSink()) }
        #expect(await sampler.readings().map(\.condition.word) == ["error"])
        try FileManager.default.removeItem(atPath: file)
        #expect(await sampler.readings().map(\.condition.word) == ["missing"])
    }

    @Test("a second run replays the file from its start")
    func runsAgain() async throws {
        let sampler = try sampler(try write(rows: 10))
        let sink = CollectingSink()

        try await sampler.run(into: sink)
        try await sampler.run(into: sink)

        #expect(sink.contents.count == 20)
        #expect(sink.contents.words(of: "accelerometer") == ["ok", "silent", "ok", "silent"])
    }
}
