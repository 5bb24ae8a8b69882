import Diagnostics
import FastJSON
import Recorder
import Samples
import TestKit
import Testing

@testable import Bridge

@Suite("Steps of a past interval", .timeLimit(.minutes(1)))
struct StepsReportTests {
    private let start = Timestamp(nanoseconds: 1_700_000_000_000_000_000)

    private func at(_ seconds: Double) -> Timestamp { start + .milliseconds(Int64(seconds * 1_000)) }

    private func batch(_ name: String, _ samples: [(seconds: Double, values: [Value])]) -> SampleBatch {
        let name = Name(mapping: name)
        let stream = Samples.Stream(name, fields: KnownStreams.fields(of: name) ?? [])
        var batch = SampleBatch(stream, arrival: BootInstant(nanoseconds: 0))
        for sample in samples { batch.append(time: at(sample.seconds), sample.values) }
        return batch
    }

    private func report(_ folder: String, _ from: Double, _ to: Double) async throws -> JSON {
        let reader = RecordingReader(folder: folder)
        let report = try await StepsReport.read(
            reader,
            steps: Name(mapping: "steps"),
            floors: Name(mapping: "floors"),
            from: at(from),
            to: at(to)
        )
        return try JSON.parse(report.text)
    }

    @Test("counts what lies between, whatever came before, over a restart and a pause")
    func countsBetween() async throws {
        let folder = TemporaryDirectory()
        let recorder = try await RecorderStore.open(folder: folder.path)
        // One step a second of 0.7 m; after 100 s the count begins again, after a minute's pause.
        let before = (1...100).map { second in
            (Double(second), [Value.integer(Int64(second)), .real(1), .real(0.7 * Double(second)), .real(1.4)])
        }
        let after = (1...50).map { second in
            (160 + Double(second), [Value.integer(Int64(second)), .real(1), .real(0.7 * Double(second)), .real(1.4)])
        }
        recorder.receive(batch("steps", before + after), keepOutside: true)
        recorder.receive(
            batch("floors", [(30, [.integer(7), .integer(2)]), (90, [.integer(8), .integer(2)])]),
            keepOutside: true
        )
        try await recorder.flush()

        let whole = try await report(folder.path, 0, 300)
        let part = try await report(folder.path, 50.5, 180.5)
        let nothing = try await report(folder.path, 110, 150)

        #expect(whole["steps"]?.int == 150)
        #expect(abs((whole["distance_m"]?.double ?? 0) - 105) < 1.5)
        #expect(abs((whole["active_s"]?.double ?? 0) - 148) < 0.1)
        #expect(whole["floors_ascended"]?.int == 2)
        #expect(part["steps"]?.int == 70)
        #expect(abs((part["distance_m"]?.double ?? 0) - 49) < 1)
        #expect(part["floors_ascended"]?.int == 1)
        #expect(part["floors_descended"]?.int == 0)
        #expect(nothing["steps"]?.int == 0)
        #expect(nothing["active_pace_s_m"]?.isNull == true)
    }

    @Test("samples that come twice or late count nothing")
    func ignoresDoubles() {
        var totals = StepTotals()
        totals.begin(count: 10, distance: 7)
        for (seconds, count) in [(1.0, 11), (1, 11), (2, 12), (1.5, 40), (3, 13)] {
            totals.add(at(seconds), count: Int64(count), distance: nil, cadence: nil, pace: nil)
        }

        #expect(totals.steps == 3)
        #expect(totals.active == .seconds(2))
    }
}
