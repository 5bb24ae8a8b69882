internal import Control
internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import Outbox
internal import Publisher
internal import Recorder
internal import SQLite
internal import Samples

/// What `feedbridge status` and `GET /status` show: one moment of the running bridge.
struct StatusReport: Sendable {
    var name: String
    var delivery: PublisherStatus
    var wanted: SwitchState
    var applied: SwitchState?
    var source: SwitchReason
    var since: Timestamp
    var session: Int64?
    var points: OutboxCounts
    var outbox: OutboxCondition
    var feeds: [FeedKey: OutboxCounts]
    var recorder: RecorderHealth
    var state: KeyValueStore.Condition
    var streams: [Name: StreamMonitor]
    var running: Set<Name>
    var drops: [Name: Int]
    var wall: Timestamp
    var boot: BootInstant

    /// The object of the contract.
    var json: JSON {
        [
            "name": .string(name),
            "version": .string(FeedbridgeVersion.text),
            "link": .string(delivery.link?.rawValue ?? "none"),
            "reason": .string(reason.rawValue),
            "message": .string(message),
            "next_try": JSON(delivery.nextTry.map { moment($0).description }),
            "recording": .bool(session != nil),
            "session": JSON(session.map { Int($0) }),
            "points": [
                "accepted": JSON(points.accepted), "confirmed": JSON(points.confirmed), "refused": JSON(points.refused),
                "evicted": JSON(points.evicted), "pending": JSON(points.pending),
                "doubt": JSON(max(points.doubt, delivery.doubt)),
            ],
            "budget": [
                "limit": JSON(delivery.limit), "used": JSON(delivery.used), "left": JSON(delivery.left), "window_s": 60,
            ],
            "backlog": [
                "points": JSON(delivery.backlog), "bytes": JSON(outbox.bytes),
                "oldest": JSON(outbox.oldest?.description),
                "eta_s": JSON(delivery.drainTime.map { $0.inSeconds.rounded() }),
            ],
            "evicted": evictedJSON,
            "set_aside": .array(damagedFiles.map { .string($0) }),
            "problems": .array(problems.map { .string($0) }),
            "streams": streamsJSON,
            "switch": [
                "wanted": .string(wanted.rawValue), "applied": JSON(applied?.rawValue),
                "source": .string(source.rawValue),
                "since": .string(since.description),
            ],
        ]
    }

    private var streamsJSON: JSON {
        .object(
            JSONObject(
                streams.sorted { $0.key < $1.key }.map { name, monitor in
                    let state = monitor.state(at: boot, isRunning: running.contains(name))
                    let object: JSON = [
                        "rate_hz": JSON(monitor.rate(at: boot).map { ($0 * 1000).rounded() / 1000 }),
                        "asked_hz": JSON(monitor.askedHertz),
                        "age_s": JSON(monitor.age(at: boot).map { ($0.inSeconds * 1000).rounded() / 1000 }),
                        "good": JSON(monitor.good),
                        "bad": JSON(monitor.bad),
                        "late": JSON(monitor.late),
                        "duplicate": JSON(monitor.duplicate),
                        "dropped": JSON(drops[name] ?? 0),
                        "state": .string(state.word),
                    ]
                    return (name.text, object)
                }
            )
        )
    }

    /// The points of each feed that left unsent, by cause.
    private var evictedJSON: JSON {
        let lossy = feeds.filter { $0.value.evicted > 0 }.sorted { $0.key < $1.key }
        return .object(
            JSONObject(
                lossy.map { feed, counts in
                    let causes = counts.evictedBy.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
                    return (feed.text, .object(JSONObject(causes.map { ($0.key.rawValue, JSON($0.value)) })))
                }
            )
        )
    }

    var isUp: Bool { delivery.link != nil }

    var reason: LinkReason { isDiskFull ? .diskFull : delivery.reason }

    private var isDiskFull: Bool { outbox.isDiskFull || recorder.isDiskFull || state.failure?.isFull == true }

    /// Damaged files that were set aside and lie there still.
    var damagedFiles: [String] { outbox.damagedFiles + recorder.damagedFiles + state.damagedFiles }

    /// What the disk does not do, a sentence each.
    var problems: [String] {
        var problems: [String] = []
        if outbox.isDiskFull {
            problems.append("the disk is full: new data points are dropped and counted. Free space")
        }
        if let failure = outbox.failure, !failure.isFull { problems.append("\(failure)") }
        if recorder.isDiskFull {
            problems.append(
                "the disk is full: samples wait in memory, and what finds no room there is dropped. Free space"
            )
        } else if let failure = recorder.failure {
            problems.append("\(failure)")
        }
        if let failure = state.failure { problems.append("\(failure)") }
        if outbox.isSalvaging { problems.append("points of a damaged outbox are being put back") }
        if recorder.isSalvaging { problems.append("samples of damaged recordings are being put back") }
        return problems
    }

    /// One sentence about what is not as it should be.
    var message: String {
        if let problem = problems.first { return problem }
        if let held = delivery.heldUntil, held > boot {
            return "the service wants a pause until \(moment(held).iso8601(fractionDigits: 0))"
        }
        if let stretch = delivery.stretch { return "\(stretch)" }
        switch (delivery.link, delivery.reason) {
        case (.mqtt, _): return "connected"
        case (.rest, let reason): return "MQTT is down (\(reason.rawValue)); REST has taken over"
        case (nil, let reason):
            return reason == .starting ? "not tried yet" : "MQTT is down (\(reason.rawValue))\(Self.advice(reason))"
        }
    }

    /// What a person can do about it, where that is known.
    private static func advice(_ reason: LinkReason) -> String {
        switch reason {
        case .clock: ": the service's certificate is not valid at this time. Check this machine's clock"
        case .keyRefused: ": the service refuses user name or key. Set the right ones"
        case .idInUse: ": another client seems to use this id. Give each bridge a name of its own"
        case .tls: ": the connection cannot be made secure. Check `ca_file` and what stands between"
        case .dns: ": the service's name is not found. Check this machine's network"
        default: ""
        }
    }

    /// The wall time of a boot-time instant, as the wall clock stands now.
    private func moment(_ instant: BootInstant) -> Timestamp {
        wall + boot.duration(to: instant)
    }
}

extension StatusReport {
    /// The object of the contract as text for people.
    static func text(_ status: JSON) -> String {
        func show(_ key: String) -> String { status[key]?.string ?? "?" }
        func number(_ outer: String, _ inner: String) -> String { status[outer]?[inner]?.int.map(String.init) ?? "?" }
        var lines: [String] = []
        lines.append("\(show("name"))  feedbridge \(show("version"))")
        let nextTry = status["next_try"]?.string.map { ", next try \($0)" } ?? ""
        lines.append("link       \(show("link")) (\(show("reason")): \(show("message"))\(nextTry))")
        let isRecording = status["recording"]?.bool == true
        let session = status["session"]?.int.map { ", session \($0)" } ?? ""
        let wanted = status["switch"]?["wanted"]?.string ?? "?"
        let since = status["switch"]?["since"]?.string ?? "?"
        lines.append("recording  \(isRecording ? "yes\(session)" : "no") (switch wants \(wanted), since \(since))")
        lines.append(
            "points     accepted \(number("points", "accepted")), confirmed \(number("points", "confirmed")), refused \(number("points", "refused")), evicted \(number("points", "evicted")), pending \(number("points", "pending"))"
        )
        for (feed, causes) in status["evicted"]?.object ?? [:] {
            let words = (causes.object ?? [:]).map { "\($0.1.int ?? 0) (\($0.0))" }.joined(separator: ", ")
            lines.append("  evicted  \(feed.padded(to: 24)) \(words)")
        }
        for problem in (status["problems"]?.array ?? []).dropFirst() {
            lines.append("problem    \(problem.string ?? "?")")
        }
        for file in status["set_aside"]?.array ?? [] {
            lines.append("set aside  \(file.string ?? "?") (it was damaged; what could be read of it is put back)")
        }
        let hasLimit = status["budget"]?["limit"]?.int != nil
        lines.append(
            hasLimit
                ? "budget     \(number("budget", "used")) of \(number("budget", "limit")) points in the last minute"
                : "budget     no limit"
        )
        for (name, stream) in status["streams"]?.object ?? [:] {
            let rate = stream["rate_hz"]?.double.map { "\($0) Hz" } ?? "-"
            let age = stream["age_s"]?.double.map { "\($0) s ago" } ?? "never"
            let good = stream["good"]?.int ?? 0
            let bad = stream["bad"]?.int ?? 0
            let dropped = stream["dropped"]?.int ?? 0
            lines.append(
                "  \(name.padded(to: 26)) \((stream["state"]?.string ?? "?").padded(to: 14)) \(rate.padded(to: 10)) \(age.padded(to: 14)) good \(good), bad \(bad), dropped \(dropped)"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension String {
    /// The text with spaces up to `width` characters.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
