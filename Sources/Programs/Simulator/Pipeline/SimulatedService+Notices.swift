internal import Diagnostics
internal import Sockets

extension SimulatedService {
    /// Says something on an account's `errors` or `throttle` topic. Only who listens now learns it.
    func tell(_ account: String, _ kind: NoticeKind, _ text: String) {
        executor.checkIsolated()
        let payload = ServiceTexts.payload(text, quoted: faults.quotesMessages ?? options.quotesMessages)
        for session in sessions.all where session.client?.account == account {
            let matching = session.subscriptions.values.filter { $0.receives(notice: kind, of: account) }
            guard let qos = matching.map(\.qos).max() else { continue }
            session.send("\(account)/\(kind.rawValue)", payload, qos: qos)
        }
        hub.send(.notice(kind: kind.rawValue, text: text, time.wall()), to: account)
        log.debug("\(account)/\(kind.rawValue): \(text)")
    }

    /// Says that an account is banned, and closes its connections where the options want that.
    func announceBan(of account: String, seconds: Int) {
        count(account) { $0.bans += 1 }
        tell(account, .errors, ServiceTexts.banned(seconds: seconds))
        guard options.banDisconnects else { return }
        for session in sessions.all where session.client?.account == account { session.end() }
    }

    /// Adds a fault, and does at once what it asks for.
    public func inject(_ fault: Fault) async {
        faults.add(fault)
        await executor.run { self.applyAtOnce(fault) }
    }

    /// Forgets all faults, and ends every ban and throttle.
    public func clearFaults() async {
        faults.clear()
        await executor.run {
            for account in self.accounts { self.meter(account) { meter, _ in meter.release() } }
        }
    }

    func applyAtOnce(_ fault: Fault) {
        switch fault {
        case .ban(let seconds):
            for account in accounts {
                meter(account) { $0.forceBan(seconds: seconds, at: $1) }
                announceBan(of: account, seconds: seconds)
            }
        case .throttle(let seconds):
            for account in accounts {
                meter(account) { $0.forceThrottle(seconds: seconds, at: $1) }
                tell(account, .throttle, ServiceTexts.dataRate(user: account, seconds: seconds))
            }
        default: break
        }
    }
}
