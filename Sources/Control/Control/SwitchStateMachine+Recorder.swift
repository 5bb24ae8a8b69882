internal import Diagnostics

extension SwitchStateMachine {
    mutating func launched(_ now: SwitchMoment) {
        switch settings.onStart {
        case .follow: break
        case .on: decideAnyway(.on, .command, now)
        case .off: decideAnyway(.off, .command, now)
        }
        drive()
    }

    /// Takes a decision that was not made on the feed. Without a change there is nothing to write.
    mutating func decide(_ state: SwitchState, _ reason: SwitchReason, _ now: SwitchMoment) {
        guard wanted != state else { return }
        decideAnyway(state, reason, now)
        drive()
    }

    private mutating func decideAnyway(_ state: SwitchState, _ reason: SwitchReason, _ now: SwitchMoment) {
        if memory.wanted != state || memory.since == nil { memory.since = now.wall.nanoseconds }
        memory.wanted = state
        memory.reason = reason
        memory.pending = SwitchMemory.Pending(state, at: now, bootID: bootID)
        doubtful = nil
        decided()
    }

    /// Follows the feed: whatever was decided here before is over.
    mutating func follow(_ state: SwitchState, followed: SwitchMemory.Followed?, _ now: SwitchMoment) {
        memory.pending = nil
        memory.followed = followed
        doubtful = nil
        guard wanted != state else { return }
        memory.wanted = state
        memory.reason = .dashboard
        memory.since = now.wall.nanoseconds
        drive()
    }

    /// Makes the recorder do what is wanted, one step at a time: while it starts or stops, it is only remembered.
    private mutating func drive() {
        switch (recorder, wanted) {
        case (.stopped, .on):
            recorder = .starting
            actions.append(.start(reason))
        case (.running, .off):
            recorder = .stopping
            actions.append(.stop(reason))
        default: break
        }
    }

    mutating func started(_ session: String) {
        guard recorder == .starting else { return }
        recorder = .running
        status = "recording \(session)"
        drive()
    }

    mutating func startFailed(_ text: String, _ now: SwitchMoment) {
        guard recorder == .starting else { return }
        recorder = .stopped
        failed(text, now)
    }

    mutating func stopped() {
        guard recorder == .stopping else { return }
        recorder = .stopped
        status = "stopped"
        drive()
    }

    mutating func broke(_ text: String, _ now: SwitchMoment) {
        switch recorder {
        case .running:
            recorder = .stopped
            failed(text, now)
        case .stopping:
            // It was to stop anyway.
            stopped()
            if recorder == .stopped { status = SwitchStateMachine.error(text) }
        case .stopped, .starting: break
        }
    }

    private mutating func failed(_ text: String, _ now: SwitchMoment) {
        status = SwitchStateMachine.error(text)
        decide(.off, .error, now)
    }
}
