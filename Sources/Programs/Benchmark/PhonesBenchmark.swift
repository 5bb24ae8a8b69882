internal import Diagnostics
internal import FastJSON
internal import PhoneSamplers
internal import Recorder
internal import Samples

/// Takes posts as Sensor Logger makes them: decodes them, and decodes and records them with an answer for each.
enum PhonesBenchmark {
    static func run(_ options: Options) async throws {
        let folder = options.text("folder", "")
        guard !folder.isEmpty else { throw BenchmarkError("--folder is missing") }
        let (count, samples) = (try options.number("posts", 500), try options.number("samples", 1000))
        let posts = (0..<count).map { post($0, samples: samples) }
        let total = Double(count * samples)

        let decoded = try await measure(posts, CountingSink())
        var settings = RecorderStore.Settings()
        settings.bufferBytes = 1 << 30
        let recorder = try await RecorderStore.open(folder: folder, settings: settings)
        let answered = try await measure(posts, RecordingSink(recorder: recorder, isDurable: true))
        // Of other times: one that is taken already costs a search for the next free.
        let others = (count..<2 * count).map { post($0, samples: samples) }
        let unanswered = try await measure(others, RecordingSink(recorder: recorder, isDurable: false))
        try await recorder.close()

        let time = SystemTime()
        var start = time.boot()
        var parser = JSONTapeParser()
        for post in posts { _ = try parser.parse(post) }
        let tape = start.duration(to: time.boot()).inSeconds
        start = time.boot()
        for post in posts.prefix(max(1, count / 10)) { _ = try JSON.parse(post) }
        let values = start.duration(to: time.boot()).inSeconds * Double(count) / Double(max(1, count / 10))
        print(
            #"{"samples":\#(Int(total)),"decoded_per_s":\#(Int(total / decoded)),"recorded_per_s":\#(Int(total / unanswered)),"#
                + #""answered_per_s":\#(Int(total / answered)),"tape_per_s":\#(Int(total / tape)),"json_c_per_s":\#(Int(total / values))}"#
        )
    }

    /// Seconds for all posts, one after the other.
    private static func measure(_ posts: [[UInt8]], _ sink: any SampleSink) async throws -> Double {
        let sampler = PushSampler(PushConfiguration(.sensorLogger(.android, .off), whenOff: .keep))
        let running = Task { try await sampler.run(into: sink) }
        while await !sampler.isRunning { await Task.yield() }
        defer { running.cancel() }
        let time = SystemTime()
        let start = time.boot()
        let isDurable = (sink as? RecordingSink)?.isDurable ?? true
        for post in posts {
            let message = PushMessage(body: post, wantsReceipt: isDurable, arrival: time.boot(), wall: time.wall())
            _ = try await sampler.take(message)
        }
        if let sink = sink as? RecordingSink { try await sink.recorder.flush() }
        return start.duration(to: time.boot()).inSeconds
    }

    /// Three sensors with three values each, ten milliseconds apart.
    private static func post(_ number: Int, samples: Int) -> [UInt8] {
        let names = ["totalacceleration", "gyroscope", "magnetometer"]
        let entries = (0..<samples).map { index in
            let time = 1_750_000_000_000_000_000 + Int64(number * samples + index) * 3_333_333
            let (name, value) = (names[index % 3], Double(index % 97) * 0.012_345_678)
            return
                #"{"name":"\#(name)","time":\#(time),"values":{"z":\#(value),"y":-0.\#(123_456 + index),"x":9.\#(700_000 + index)}}"#
        }
        return Array(
            #"{"messageId":\#(number),"sessionId":"s","deviceId":"d","payload":[\#(entries.joined(separator: ","))]}"#
                .utf8
        )
    }

    private struct CountingSink: SampleSink {
        func receive(_ batch: SampleBatch) {}
        func report(_ condition: SourceCondition, of stream: Name) {}
        func reject(_ count: Int, of stream: Name, example: String) {}
    }

    private struct RecordingSink: SampleSink {
        let recorder: RecorderStore
        let isDurable: Bool

        func receive(_ batch: SampleBatch) {}
        func report(_ condition: SourceCondition, of stream: Name) {}
        func reject(_ count: Int, of stream: Name, example: String) {}

        func store(_ batches: [SampleBatch], keepOutside: Bool, durably: Bool) async throws {
            if durably {
                try await recorder.durably(batches, keepOutside: keepOutside)
            } else {
                for batch in batches { recorder.receive(batch, keepOutside: keepOutside) }
                try await recorder.flush()
            }
        }
    }
}
