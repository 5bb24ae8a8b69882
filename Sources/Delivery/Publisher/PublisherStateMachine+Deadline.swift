public import Diagnostics

extension PublisherStateMachine {
    /// When `.tick` is to be handed in, if nothing happens before; nil when there is nothing to wait for.
    ///
    /// Never earlier than just after the last `handle`: what was due then was done then.
    public var deadline: BootInstant? {
        guard isStarted else { return nil }
        var earliest: BootInstant?
        func consider(_ instant: BootInstant?) {
            guard let instant, instant > now else { return }
            earliest = earliest.map { min($0, instant) } ?? instant
        }
        consider(mqttTry)
        consider(fallbackDue)
        if isFallback { consider(mqtt.upSince?.advanced(by: settings.steadyAfter)) }
        for scope in HoldOffs.Scope.allCases { consider(memory.holds.current(scope, at: now)?.until) }
        consider(memory.budget.nextFree)
        consider(rest.throttleReadAt?.advanced(by: Self.readPause))
        if mqtt.phase == .up {
            consider(memory.budget.failedPublishes.nextFree(10, at: now))
            if mqtt.wanted.count > mqtt.granted.count + mqtt.failed.count + mqtt.asked.count {
                consider(memory.budget.subscribes.nextFree(30, at: now))
                consider(memory.budget.failedSubscribes.nextFree(1, at: now))
            }
        } else if mqtt.phase == .subscribing {
            consider(memory.budget.subscribes.nextFree(1, at: now))
            consider(memory.budget.failedSubscribes.nextFree(1, at: now))
        }
        if settings.isPlain {
            consider(silenceDue)
            return earliest
        }
        for at in mqtt.asked.values { consider(at.advanced(by: settings.settle)) }
        for lane in lanes {
            consider(lane.heldUntil)
            if case .mqtt(_, _, let at, _) = lane.flight { consider(at.advanced(by: settings.settle)) }
            if let first = lane.fresh.first {
                consider(first.bornAt?.advanced(by: settings.liveWithin))
                consider(lane.texts.nextChange(after: now))
            }
            for doubt in lane.doubts { consider(doubt.notBefore) }
            for check in lane.checks { consider(check.notBefore) }
            for parked in lane.parked { consider(parked.until) }
        }
        return earliest
    }
}
