internal import Diagnostics
internal import FastJSON
internal import Recorder
internal import Samples

/// `feedbridge steps`: what a pedometer has counted in an interval of the past, or since a moment until now and on.
public struct StepsCommand: Command {
    private let from: String
    private let to: String?
    private let stream: String
    private let isFollowing: Bool
    private let json: Bool

    /// Makes the command; the times are as typed. It follows when there is no `to`.
    public init(from: String, to: String?, follow: Bool, stream: String = "steps", json: Bool) {
        self.from = from
        self.to = to
        self.stream = stream
        isFollowing = follow
        self.json = json
    }

    /// Reads the recordings; with `--follow`, again every two seconds until it is interrupted.
    public func run(_ context: CommandContext) async throws {
        let time = SystemTime()
        guard let name = Name(stream) else { throw CommandError("\"\(stream)\" is no name of a stream", exitCode: 2) }
        let from = try moment(from, time.wall(), "--from")
        let directory = try StateDirectory(try context.configuration(), environment: context.environment)
        let reader = RecordingReader(folder: directory.path)
        if !isFollowing {
            let to = try moment(to ?? "now", time.wall(), "--to")
            guard from <= to else { throw CommandError("--from is later than --to", exitCode: 2) }
            context.output(text(try await Self.totals(reader, name, from: from, to: to)))
            return
        }
        var last: StepTotals?
        while true {
            let totals = try await Self.totals(reader, name, from: from, to: time.wall())
            if totals != last { context.output(text(totals)) }
            last = totals
            try await time.sleep(for: .seconds(2))
        }
    }

    /// The totals of an interval of the past; nothing recorded is no steps.
    static func totals(
        _ reader: RecordingReader,
        _ stream: Name,
        from: Timestamp,
        to: Timestamp
    ) async throws -> StepTotals {
        var totals = StepTotals()
        var position: SamplePage.Position?
        do throws(RecorderError) {
            repeat {
                let page = try await reader.page(of: stream, from: from, to: max(from, to), at: position)
                totals.add(page)
                position = page.next
            } while position != nil
        } catch {
            switch error {
            case .noRecordings, .noSuchStream: break
            default: throw error
            }
        }
        return totals
    }

    private func text(_ totals: StepTotals) -> String {
        if json {
            return JSON.object([
                "steps": JSON(Int(totals.steps)), "distance_m": JSON((totals.distance * 100).rounded() / 100),
                "active_s": JSON(totals.active.rounded()), "last": JSON(totals.last?.description),
            ]).serialized() + "\n"
        }
        let pace = totals.distance > 0 ? ", \(Int((totals.active / totals.distance * 1000).rounded())) s/km" : ""
        return
            "\(totals.steps) steps, \(Int(totals.distance.rounded())) m in \(Int(totals.active.rounded())) s\(pace)\n"
    }

    private func moment(_ text: String, _ now: Timestamp, _ option: String) throws(CommandError) -> Timestamp {
        guard let moment = TimeArgument.moment(text, now: now) else {
            throw CommandError(
                "\(option) must be a time such as 2026-05-01T12:00:00Z, now, or a time ago such as \"-15 min\", not \"\(text)\"",
                exitCode: 2
            )
        }
        return moment
    }
}

/// Adds up samples of the stream `steps`. Its counts and distances go on and on; here their growth counts.
struct StepTotals: Equatable {
    private(set) var steps: Int64 = 0
    /// In metres.
    private(set) var distance = 0.0
    /// The time between steps of one walk, in seconds.
    private(set) var active = 0.0
    /// The time of the last step.
    private(set) var last: Timestamp?
    private var before: Sample?

    private struct Sample: Equatable {
        let count: Int64
        let distance: Double?
        let time: Timestamp
        let isPause: Bool
    }

    /// Takes a page of the recorded stream.
    mutating func add(_ page: SamplePage) {
        let width = page.columns.count
        let columns = ["count", "cadence", "distance"].map { name in page.columns.firstIndex { $0.name == name } }
        for row in page.times.indices {
            let numbers = columns.map { column -> Double? in
                guard let column else { return nil }
                return page.values[row * width + column].number
            }
            let count = numbers[0].map { Int64($0) }
            add(page.times[row], count: count, cadence: numbers[1], distance: numbers[2])
        }
    }

    /// Takes a sample; a pause has the cadence 0.
    mutating func add(_ time: Timestamp, count: Int64?, cadence: Double?, distance: Double?) {
        guard let count else { return }
        let isPause = cadence == 0
        let previous = before
        before = Sample(count: count, distance: distance, time: time, isPause: isPause)
        if !isPause { last = time }
        guard let previous, count >= previous.count else {
            // The first sample, or a counter that begins again: a step is one step.
            if !isPause { steps += 1 }
            return
        }
        steps += count - previous.count
        if let distance, let old = previous.distance, distance >= old { self.distance += distance - old }
        if !previous.isPause, !isPause { active += max(0, (time - previous.time).inSeconds) }
    }
}
