internal import Diagnostics
internal import Recorder
internal import Samples

/// Records samples of one stream with three real fields as fast as they are taken.
enum RecorderBenchmark {
    struct Misuse: Error, CustomStringConvertible {
        var description: String {
            "the arguments are FOLDER SAMPLES BATCH COMMIT, three numbers above 0 after the folder"
        }
    }

    /// Takes `SAMPLES` in batches of `BATCH` and has them written after every `COMMIT` of them.
    static func run(_ arguments: [String]) async throws {
        let numbers = arguments.dropFirst().compactMap { Int($0) }.filter { $0 > 0 }
        guard arguments.count == 4, numbers.count == 3 else { throw Misuse() }
        let (samples, batchSize, commitSize) = (numbers[0], numbers[1], numbers[2])
        let stream = Stream(
            Name(mapping: "accelerometer"),
            fields: ["x", "y", "z"].map { Field(Name(mapping: $0), unit: .metresPerSecondSquared) }
        )
        var settings = RecorderStore.Settings()
        // Room for one commit, and none at which the recorder would write by itself.
        settings.bufferBytes = 1 << 30
        let store = try await RecorderStore.open(folder: arguments[0], settings: settings)
        let session = try await store.startSession(reason: .command)

        let time = SystemTime()
        let first = time.wall().nanoseconds
        let begin = time.boot()
        var waiting = 0
        for start in stride(from: 0, to: samples, by: batchSize) {
            let count = min(batchSize, samples - start)
            var batch = SampleBatch(stream, arrival: begin)
            batch.reserveCapacity(count)
            for row in start..<start + count {
                let value = Double(row) * 0.001
                batch.append(
                    time: Timestamp(nanoseconds: first + Int64(row) * 10_000),
                    [.real(value), .real(value + 0.25), .real(9.80665 - value)]
                )
            }
            store.receive(batch)
            waiting += count
            if waiting >= commitSize {
                try await store.flush()
                waiting = 0
            }
        }
        // Ends with all of it on the disk.
        try await store.stopSession(reason: .command)
        let seconds = begin.duration(to: time.boot()).inSeconds

        let stored = try await store.session(session).samples[stream.name] ?? 0
        try await store.close()
        print(#"{"samples":\#(stored),"seconds":\#(seconds),"samples_per_s":\#(Int(Double(stored) / seconds))}"#)
    }
}
