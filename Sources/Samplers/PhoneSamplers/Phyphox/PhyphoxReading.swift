internal import Diagnostics
internal import FastJSON
internal import Samples

/// How far an experiment has been read. A value without clock, input and output.
struct PhyphoxReading: Sendable {
    /// What an answer holds that has not been read before.
    struct News: Sendable {
        /// Samples with their time in the experiment, in seconds, by the number of the input.
        var rows: [(input: Int, rows: [(time: Double, values: [Value])])] = []
        /// Whether the experiment began anew, so that times and buffers have to be asked for again.
        var isNewSession = false
        /// Whether the phone measures.
        var isMeasuring = false
    }

    /// A value from 3 cm on is far: sensors say 0 and 5, or 0 and 8, or the distance.
    private static let nearDistance = 3.0

    let experiment: PhyphoxExperiment
    private var session: String?
    /// The newest time of each input; nil before the first sample.
    private var newest: [Double?]

    init(_ experiment: PhyphoxExperiment) {
        self.experiment = experiment
        newest = experiment.inputs.map { _ in nil }
    }

    /// The request for what is new: `/get?accX=2.5%7Cacc_time&acc_time=2.5`.
    ///
    /// A threshold of zero or below has to be asked for as `full`: the app would give the newest value alone.
    var request: String {
        var parts: [String] = []
        for (number, input) in experiment.inputs.enumerated() {
            let threshold = newest[number].flatMap { $0 > 0 ? "\($0)" : nil }
            for buffer in input.buffers {
                let name = Self.escaped(buffer)
                guard let threshold else {
                    parts.append("\(name)=full")
                    continue
                }
                let reference = buffer == input.time ? "" : "%7C\(Self.escaped(input.time))"
                parts.append("\(name)=\(threshold)\(reference)")
            }
        }
        return "/get?" + parts.joined(separator: "&")
    }

    /// Reads an answer to `request`.
    mutating func read(_ answer: JSON) -> News {
        var news = News()
        news.isMeasuring = answer["status"]?["measuring"]?.bool ?? false
        let session = answer["status"]?["session"].map { $0.string ?? $0.serialized() }
        if let known = self.session, known != session {
            news.isNewSession = true
            return news
        }
        self.session = session
        for (number, input) in experiment.inputs.enumerated() {
            guard let times = values(of: input.time, answer) else { continue }
            let columns = input.values.map { buffer in buffer.flatMap { values(of: $0, answer) } }
            // Buffers are filled while they are read: what has no partner yet comes with the next answer.
            let count = columns.compactMap { $0?.count }.min().map { min($0, times.count) } ?? 0
            var rows: [(time: Double, values: [Value])] = []
            for row in 0..<count {
                guard let time = times[row].double, time.isFinite else { continue }
                if let last = newest[number], time <= last {
                    // Eight digits make a threshold inexact, so a sample or two come again; a restart goes far back.
                    guard time < last - 0.5, !rows.isEmpty || last - time > 1 else { continue }
                    news.isNewSession = true
                    break
                }
                newest[number] = time
                let row = columns.map { column -> Value in
                    guard let number = column?[row].double else { return .missing }
                    return input.isProximity ? .flag(number < Self.nearDistance) : Value(number)
                }
                if row.contains(where: { $0 != .missing }) { rows.append((time, row)) }
            }
            if !rows.isEmpty { news.rows.append((number, rows)) }
        }
        return news
    }

    private func values(of buffer: String, _ answer: JSON) -> [JSON]? {
        answer["buffer"]?[buffer]?["buffer"]?.array
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                String(UnicodeScalar(byte))
            default:
                (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}

/// When a time of the experiment was.
struct PhyphoxClock: Sendable, Equatable {
    /// The wall time at the experiment's time 0, in seconds.
    private let zero: Double

    /// By the answer to `/time`: the newest start tells. Nil when there is none.
    init?(_ answer: JSON) {
        let starts = (answer.array ?? []).filter { $0["event"]?.string == "START" }
        guard let last = starts.last, let system = last["systemTime"]?.double, let own = last["experimentTime"]?.double,
            system.isFinite, own.isFinite
        else { return nil }
        zero = system - own
    }

    /// By a sample that came just now, where the app cannot tell.
    init(newest time: Double, at wall: Timestamp) {
        zero = wall.seconds - time
    }

    /// The wall time of an experiment's time, to the microsecond.
    func wall(_ time: Double) -> Timestamp {
        let whole = zero.rounded(.down)
        let rest = (zero - whole + time) * 1e6
        guard whole.magnitude < 9e9, rest.magnitude < 9e15 else { return Timestamp(nanoseconds: 0) }
        return Timestamp(nanoseconds: Int64(whole) * 1_000_000_000 + Int64(rest.rounded()) * 1000)
    }
}
