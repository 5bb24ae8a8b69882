internal import AdafruitIO
internal import Diagnostics

extension SimulatedService {
    /// Starts the clocks of the time topics, if somebody listens to one.
    func startClocks(for subscriptions: some Sequence<Subscription>) {
        let topics = subscriptions.compactMap { if case .time(let topic) = $0.target { topic } else { nil } }
        if topics.contains(where: { $0 != .hours }), sessions.ticker == nil { startTicker() }
        if topics.contains(.hours), sessions.hourTicker == nil { startHourTicker() }
    }

    private func startTicker() {
        sessions.ticker = agenda.add(at: time.boot().advanced(by: .seconds(1))) { [weak self] in
            guard let self else { return }
            self.sessions.ticker = nil
            let now = self.time.wall()
            let milliseconds = now.nanoseconds / 1_000_000
            let isHeard = [
                self.send(.seconds, String(milliseconds / 1000)),
                self.send(.millis, String(milliseconds)),
                self.send(.iso8601, now.description),
            ]
            if isHeard.contains(true) { self.startTicker() }
        }
    }

    private func startHourTicker() {
        let hour: Int64 = 3_600_000_000_000
        let rest = hour - time.wall().nanoseconds % hour
        sessions.hourTicker = agenda.add(at: time.boot().advanced(by: .nanoseconds(rest))) { [weak self] in
            guard let self else { return }
            self.sessions.hourTicker = nil
            if self.send(.hours, String(self.time.wall().nanoseconds / hour % 24)) { self.startHourTicker() }
        }
    }

    /// Sends a time to all who listen; whether there is anybody.
    private func send(_ topic: TimeTopic, _ text: String) -> Bool {
        let name = "time/\(topic.rawValue)"
        var isHeard = false
        for session in sessions.all {
            guard let subscription = session.subscriptions[name] else { continue }
            isHeard = true
            session.send(name, Array(text.utf8), qos: min(subscription.qos, 0))
        }
        return isHeard
    }
}
