// phyphox (RWTH Aachen; iOS and Android): its "remote access" is a web server on the phone, which is asked here.
//
// Hardware: whatever the phone has and the opened experiment uses. Units and axes: those of Android, also on iOS, as here:
// m/s^2, rad/s, uT, hPa, lx; at rest, face up, +1 g on z. Rate: the sensor's; asked every half second or so. What goes
// wrong: the server does one thing at a time; buffers of one sensor have different lengths while they fill; a time below or
// at zero may not be asked for; a new session starts over; the times of a paused experiment jump; clocks drift apart.
public import Diagnostics
internal import FastJSON
internal import HTTPClient
public import Samples

/// What a `[[sampler]]` of `kind = "phyphox"` says.
public struct PhyphoxConfiguration: Sendable, Hashable {
    /// The address that the app shows: `http://192.168.1.20:8080`.
    public var url: String
    /// How often it is asked.
    public var every: Duration
    /// What is appended to the names of the streams.
    public var name: Name?

    /// Makes a configuration.
    public init(url: String, every: Duration = .milliseconds(500), name: Name? = nil) {
        self.url = url
        self.every = every
        self.name = name
    }
}

/// A phone with phyphox and remote access on: its experiment is started, read while it runs, and stopped again.
public final class PhyphoxSampler: Sampler {
    /// `phyphox`.
    public let kind = "phyphox"
    /// Every stream that an experiment may have.
    public let streams: [Samples.Stream]

    private let configuration: PhyphoxConfiguration
    private let naming: StreamNaming
    private let time: any TimeSource
    private let client: HTTPClient
    private static let longestPause = Duration.seconds(30)

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Makes a sampler; the phone need not be there.
    public init(_ configuration: PhyphoxConfiguration, time: any TimeSource = SystemTime()) {
        self.configuration = configuration
        self.time = time
        naming = StreamNaming(suffix: configuration.name)
        streams = PhyphoxExperiment.streams(naming)
        var settings = HTTPClientConfiguration()
        settings.connectTimeout = .seconds(5)
        settings.totalTimeout = .seconds(15)
        // "Single threaded": a second connection would wait for the first.
        settings.connectionsPerHost = 1
        client = HTTPClient(settings)
    }

    /// Starts the experiment and reads it until the task is cancelled; then stops it. A phone that is away is waited for.
    public func run(into sink: any SampleSink) async throws {
        var pause = Duration.seconds(1)
        do {
            while true {
                do {
                    try await follow(into: sink) { pause = .seconds(1) }
                } catch let error as CancellationError {
                    throw error
                } catch {
                    try Task.checkCancellation()
                    for stream in streams { sink.report(.missing("\(error)"), of: stream.name) }
                }
                try await time.sleep(for: pause)
                pause = min(pause * 2, Self.longestPause)
            }
        } catch {
            // The task is cancelled, and so would be its requests.
            await Task { _ = try? await get("/control?cmd=stop") }.value
            throw error
        }
    }

    /// Asks the phone what its experiment has, and for the newest values.
    public func readings() async -> [SensorReading] {
        do {
            let experiment = try await experiment()
            let answer = try await get(PhyphoxReading(experiment).request)
            var reading = PhyphoxReading(experiment)
            let rows = Dictionary(reading.read(answer).rows.map { ($0.input, $0.rows) }) { first, _ in first }
            return experiment.inputs.enumerated().map { number, input in
                let values = rows[number]?.last?.values
                return SensorReading(
                    stream: input.stream,
                    values: values ?? input.stream.fields.map { _ in .missing },
                    condition: values == nil ? .silent : .ok
                )
            }
        } catch {
            return streams.map { stream in
                SensorReading(
                    stream: stream,
                    values: stream.fields.map { _ in .missing },
                    condition: .missing("\(error)")
                )
            }
        }
    }

    /// Reads one experiment until something goes wrong, or another one is opened.
    private func follow(into sink: any SampleSink, isThere: () -> Void) async throws {
        var reading = PhyphoxReading(try await experiment())
        // What it answers tells nothing: it says true to anything.
        _ = try await get("/control?cmd=start")
        var clock = PhyphoxClock(try await get("/time"))
        for input in reading.experiment.inputs { sink.report(.ok, of: input.stream.name) }
        isThere()
        while true {
            try await time.sleep(for: configuration.every)
            let answer = try await get(reading.request)
            let news = reading.read(answer)
            for (number, rows) in news.rows {
                guard let last = rows.last else { continue }
                let (wall, arrival) = (time.wall(), time.boot())
                let known = clock ?? PhyphoxClock(newest: last.time, at: wall)
                clock = known
                sink.receive(
                    SampleBatch(
                        reading.experiment.inputs[number].stream,
                        arrival: arrival,
                        times: rows.map { known.wall($0.time) },
                        values: rows.flatMap(\.values)
                    )
                )
            }
            guard news.isNewSession else { continue }
            reading = PhyphoxReading(try await experiment())
            clock = PhyphoxClock(try await get("/time"))
        }
    }

    private func experiment() async throws -> PhyphoxExperiment {
        guard let experiment = PhyphoxExperiment(try await get("/config"), naming: naming) else {
            throw Failure(
                description: "The experiment that phyphox shows has no sensor that is known here. Open another one."
            )
        }
        return experiment
    }

    private func get(_ path: String) async throws -> JSON {
        let response = try await client.send(HTTPClientRequest("GET", configuration.url + path))
        guard response.status == 200 else {
            throw Failure(
                description:
                    "\(configuration.url) answered with status \(response.status). Is it phyphox with remote access on?"
            )
        }
        return try JSON.parse(response.body)
    }
}
