internal import Diagnostics
internal import Samples

/// One alert over time: whether it holds, whether it has begun, and when it may begin again.
struct AlertState: Sendable {
    /// Something to be told.
    struct Change: Sendable {
        var isBegin: Bool
        var value: String
        var time: Timestamp
    }

    let alert: Alert
    private var judge: AlertJudge
    /// The newest sample's time: older ones are late.
    private var newest: Timestamp?
    /// Since when the condition holds, in the time of the samples and on the boot-time clock.
    private var holds: (since: Timestamp, boot: BootInstant)?
    private var last = (value: "", time: Timestamp(nanoseconds: 0))
    /// Whether the begin was told and the end was not.
    private(set) var hasBegun: Bool
    private var begunAt: BootInstant?
    /// When the last sample came, or the watch began.
    private var heard: BootInstant?
    private var isReportedMissing = false
    /// Beginnings that came too soon after the last one.
    private(set) var held = 0
    private var isHeld = false

    init(_ alert: Alert, hasBegun: Bool) {
        self.alert = alert
        self.hasBegun = hasBegun
        judge = AlertJudge(alert.condition, isBeyond: hasBegun)
    }

    /// When `pass` has to be called at the latest.
    var deadline: BootInstant? {
        var moments: [BootInstant] = []
        if case .missing(_, let after) = alert.condition, !hasBegun, let heard {
            moments.append(heard.advanced(by: after))
        }
        if let holds, !hasBegun { moments.append(max(holds.boot.advanced(by: alert.lasting), earliest)) }
        return moments.min()
    }

    private var earliest: BootInstant {
        begunAt?.advanced(by: alert.atMostEvery) ?? BootInstant(nanoseconds: .min)
    }

    /// Takes one value of the field, or for `missing` any sample.
    mutating func take(_ value: Value, time: Timestamp, now: AlertMoment) -> Change? {
        if case .missing = alert.condition {
            heard = now.boot
            isReportedMissing = false
            last = (AlertJudge.text(value), time)
            return cease(time)
        }
        // What comes late is history: it is no news.
        if let newest, time < newest { return nil }
        guard time >= now.wall - AlertState.lateness else { return nil }
        newest = time
        guard let isMet = judge.judge(value) else { return nil }
        last = (AlertJudge.text(value), time)
        guard isMet else {
            holds = nil
            isHeld = false
            return cease(time)
        }
        if holds == nil { holds = (time, now.boot) }
        return begin(now, isLasting: time >= (holds?.since ?? time) + alert.lasting)
    }

    /// The source says how it is doing.
    mutating func report(_ condition: SourceCondition, now: AlertMoment) -> Change? {
        guard case .missing = alert.condition else { return nil }
        if heard == nil { heard = now.boot }
        switch condition {
        case .ok:
            isReportedMissing = false
            return nil
        case .silent: return nil
        case .missing, .noPermission, .error: isReportedMissing = true
        }
        if holds == nil { holds = (now.wall, now.boot) }
        last = (condition.word, now.wall)
        return begin(now, isLasting: now.boot >= (holds?.boot ?? now.boot).advanced(by: alert.lasting))
    }

    /// Time has passed.
    mutating func pass(_ now: AlertMoment) -> Change? {
        if case .missing(_, let after) = alert.condition {
            let since = heard ?? now.boot
            heard = since
            guard holds == nil, since.advanced(by: after) <= now.boot else {
                return holds.flatMap { begin(now, isLasting: now.boot >= $0.boot.advanced(by: alert.lasting)) }
            }
            holds = (now.wall, now.boot)
            last = ("", now.wall)
        }
        guard let holds else { return nil }
        return begin(now, isLasting: now.boot >= holds.boot.advanced(by: alert.lasting))
    }

    private mutating func begin(_ now: AlertMoment, isLasting: Bool) -> Change? {
        guard !hasBegun, isLasting else { return nil }
        guard now.boot >= earliest else {
            if !isHeld { held += 1 }
            isHeld = true
            return nil
        }
        hasBegun = true
        isHeld = false
        begunAt = now.boot
        return Change(isBegin: true, value: last.value, time: last.time)
    }

    private mutating func cease(_ time: Timestamp) -> Change? {
        holds = nil
        guard hasBegun else { return nil }
        hasBegun = false
        return Change(isBegin: false, value: last.value, time: time)
    }

    /// Samples that are so much older than the wall clock are no news.
    private static let lateness = Duration.seconds(60)
}
