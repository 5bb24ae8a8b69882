internal import Diagnostics

extension SwitchStateMachine {
    private var wantsToTell: String? {
        guard link != nil, applied != nil else { return nil }
        let text = report == told ? status : report ?? status
        return text == told ? nil : text
    }

    /// When the status may be told: at most once a minute, and not while the feed may still change it.
    var tellDue: BootInstant? {
        guard let connectedAt, wantsToTell != nil else { return nil }
        let settled = feed == .unread ? connectedAt.advanced(by: settings.statusWaits) : connectedAt
        return max(settled, lastTold?.advanced(by: settings.statusInterval) ?? settled)
    }

    mutating func tell(_ now: SwitchMoment) {
        guard let text = wantsToTell, let due = tellDue, due <= now.boot else { return }
        report = nil
        told = text
        lastTold = now.boot
        actions.append(.tell(text))
    }

    /// What the status feed is to be told at the end of the program, once recording has stopped; nil: it knows already,
    /// or cannot be told.
    public mutating func farewell() -> String? {
        if recorder != .stopped {
            recorder = .stopped
            status = "stopped"
        }
        guard link != nil, status != told else { return nil }
        told = status
        return status
    }

    /// The status for something that went wrong.
    static func error(_ text: String) -> String { "error: " + forStatus(text, limit: 200) }

    /// At most `limit` characters of `text`, in one line.
    static func forStatus(_ text: String, limit: Int) -> String {
        let line = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        return line.count > limit ? line.prefix(limit) + "…" : line
    }
}
