internal import Diagnostics
internal import Glibc

extension ConnectionLoop {
    /// Deals with what the library reported.
    func digest() {
        for event in events.take() {
            switch event {
            case .connected(let code, let receiveMaximum): welcome(code, receiveMaximum)
            case .disconnected(let code): part(code)
            case .acknowledged(let id, let code): acknowledge(id, code)
            case .message(let message):
                core.received.add()
                core.dropped.add(traffic.subscriptions.deliver(message))
            case .subscribed(let id, let granted): answerSubscribe(id, granted)
            case .unsubscribed(let id): traffic.subscriptions.answeredUnsubscribe(id)?.result.resolve(nil)
            }
        }
    }

    private func welcome(_ code: Int32, _ receiveMaximum: Int?) {
        guard code == 0 else {
            ending = ending ?? .refused(MQTTRefusal(code: UInt8(truncatingIfNeeded: code)))
            return
        }
        guard phase != .leaving else { return }
        phase = .active
        if let receiveMaximum, receiveMaximum > 0 {
            traffic.publishes.window = min(traffic.publishes.window, receiveMaximum)
        }
        core.connected.resolve(nil)
    }

    private func part(_ code: Int32) {
        guard ending == nil else { return }
        if phase == .leaving {
            ending = .disconnected
            return
        }
        // Below 128 it is one of the library's own codes, and the call that caused this returns it too.
        switch code {
        case 0: ending = .closedByPeer
        case 0x8e: ending = .takenOver
        case 0x80...0xff: ending = .disconnectedByPeer(code: UInt8(code))
        default: break
        }
    }

    private func acknowledge(_ id: Int32, _ code: Int32) {
        guard let message = traffic.publishes.acknowledged(id) else { return }
        core.acknowledged.add()
        guard let group = message.group else { return }
        guard code >= 0x80 else {
            group.settle(message.index, nil)
            return
        }
        let action = "publishing to \(group.messages[message.index].topic)"
        group.settle(message.index, MQTTError(.publishRefused(code: UInt8(truncatingIfNeeded: code)), while: action))
    }

    private func answerSubscribe(_ id: Int32, _ granted: Int32) {
        guard let request = traffic.subscriptions.answeredSubscribe(id) else { return }
        guard let qos = UInt8(exactly: granted).flatMap(MQTTQoS.init(rawValue:)) else {
            _ = traffic.subscriptions.remove(request.buffer)
            let reason = MQTTReason.subscriptionRefused(code: UInt8(truncatingIfNeeded: granted))
            request.result.resolve(.failure(MQTTError(reason, while: "subscribing to \(request.filter)")))
            return
        }
        if !request.result.resolve(.success(qos)), !traffic.subscriptions.hasReader(of: request.filter) {
            // Its caller has gone in the meantime, and nobody else reads this.
            send(UnsubscribeRequest(filter: request.filter, buffer: request.buffer))
        }
    }

    /// Does what others asked for.
    func obey(_ commands: [ConnectionCore.Command]) {
        for command in commands {
            if let ending {
                ConnectionCore.fail([command], ending)
                continue
            }
            switch command {
            case .publish(let group): accept(group)
            case .cancelPublish(let group): cancel(group)
            case .subscribe(let request): send(request)
            case .cancelSubscribe(let request): cancel(request)
            case .unsubscribe(let request): end(request)
            case .disconnect: leave()
            case .giveUp(let reason): ending = reason
            }
        }
    }

    private func accept(_ group: PublishGroup) {
        guard phase == .active else {
            group.settleRest(MQTTError(.notConnected, while: "publishing"))
            return
        }
        guard !group.isCancelled else {
            group.settleRest(MQTTError(.cancelled, while: "publishing"))
            return
        }
        traffic.publishes.append(group)
    }

    private func cancel(_ group: PublishGroup) {
        let (handed, unsent) = traffic.publishes.cancel(group)
        for index in handed {
            let action = "publishing to \(group.messages[index].topic)"
            group.settle(index, MQTTError(.cancelled, while: action, isUnknown: true))
        }
        for index in unsent {
            group.settle(index, MQTTError(.cancelled, while: "publishing to \(group.messages[index].topic)"))
        }
    }

    private func send(_ request: SubscribeRequest) {
        let action = "subscribing to \(request.filter)"
        guard phase == .active else {
            request.result.resolve(.failure(MQTTError(.notConnected, while: action)))
            return
        }
        guard request.result.current == nil else { return }
        traffic.subscriptions.register(request)
        var id: Int32 = 0
        let code = handle.subscribe(to: request.filter, qos: request.qos, id: &id)
        let number = errno
        guard code == MosquittoCode.success || id != 0 else {
            _ = traffic.subscriptions.remove(request.buffer)
            let reason = MQTTReason(code: code, errno: number, tls: events.tlsFailure)
            request.result.resolve(.failure(MQTTError(reason, while: action)))
            return
        }
        traffic.publishes.lastMessageID = id
        traffic.subscriptions.sent(id, request)
        if code != MosquittoCode.success { fail(code, number) }
    }

    private func cancel(_ request: SubscribeRequest) {
        let wasSent = traffic.subscriptions.awaits(request)
        _ = traffic.subscriptions.remove(request.buffer)
        let error = MQTTError(.cancelled, while: "subscribing to \(request.filter)", isUnknown: wasSent)
        request.result.resolve(.failure(error))
    }

    private func end(_ request: UnsubscribeRequest) {
        guard phase == .active else {
            request.result.resolve(MQTTError(.notConnected, while: "unsubscribing from \(request.filter)"))
            return
        }
        guard traffic.subscriptions.remove(request.buffer) else {
            // Somebody else still reads this filter, or it had ended before.
            request.result.resolve(nil)
            return
        }
        send(request)
    }

    private func send(_ request: UnsubscribeRequest) {
        var id: Int32 = 0
        let code = handle.unsubscribe(from: request.filter, id: &id)
        let number = errno
        guard id != 0 else {
            let reason = MQTTReason(code: code, errno: number, tls: events.tlsFailure)
            request.result.resolve(MQTTError(reason, while: "unsubscribing from \(request.filter)"))
            return
        }
        traffic.publishes.lastMessageID = id
        traffic.subscriptions.sent(id, request)
        if code != MosquittoCode.success { fail(code, number) }
    }

    private func leave() {
        guard phase == .active else {
            ending = .disconnected
            return
        }
        phase = .leaving
        deadline = core.time.boot().advanced(by: .seconds(1))
        let code = handle.disconnect()
        digest()
        if code != MosquittoCode.success || handle.socket < 0 { ending = ending ?? .disconnected }
    }

    /// Hands over as many messages as the window has room for.
    func pump() {
        let room = traffic.publishes.room()
        guard room > 0 else { return }
        // Without the cork each message is a segment of its own, and a wake-up of the broker.
        let isCorked = room > 1
        if isCorked { cork(true) }
        let now = core.time.boot()
        for _ in 0..<room {
            guard ending == nil, !traffic.publishes.nextIDIsTaken, let (group, index) = traffic.publishes.takeNext()
            else { break }
            if !group.rejected.contains(index) { hand(group, index, at: now) }
        }
        if isCorked { cork(false) }
        digest()
    }

    private func hand(_ group: PublishGroup, _ index: Int, at now: BootInstant) {
        var id: Int32 = 0
        let code = handle.publish(group.messages[index], id: &id)
        let number = errno
        if id != 0 {
            // Taken by the library, whatever the code says: with an id a message is queued and may be sent.
            traffic.publishes.handed(id, group, index, at: now)
            if code != MosquittoCode.success { fail(code, number) }
            return
        }
        let reason = MQTTReason(code: code, errno: number, tls: nil)
        group.settle(index, MQTTError(reason, while: "publishing to \(group.messages[index].topic)"))
    }

    private func cork(_ isOn: Bool) {
        let socket = handle.socket
        guard socket >= 0 else { return }
        var value: Int32 = isOn ? 1 : 0
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
