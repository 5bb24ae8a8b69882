/// Who wants which messages, and who still waits for an answer of the broker.
struct SubscriptionTable {
    private struct Entry {
        var filter: String
        var isExact: Bool
        var buffer: MessageBuffer
    }

    private var entries: [Entry] = []
    private var subscribing: [Int32: SubscribeRequest] = [:]
    private var unsubscribing: [Int32: UnsubscribeRequest] = [:]

    /// Registers a reader. Done before SUBSCRIBE is sent: a kept message may come before SUBACK.
    mutating func register(_ request: SubscribeRequest) {
        let isExact = !request.filter.utf8.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }
        let isShared = request.filter.utf8.starts(with: "$share/".utf8)
        entries.append(Entry(filter: request.filter, isExact: isExact && !isShared, buffer: request.buffer))
    }

    /// Ends the reader with this buffer. Returns whether no other reader uses its filter.
    mutating func remove(_ buffer: MessageBuffer) -> Bool {
        guard let index = entries.firstIndex(where: { $0.buffer === buffer }) else { return false }
        let filter = entries.remove(at: index).filter
        buffer.finish()
        return !entries.contains { $0.filter == filter }
    }

    /// Whether anybody reads this filter.
    func hasReader(of filter: String) -> Bool { entries.contains { $0.filter == filter } }

    /// Gives a message to every reader it is for. Returns how many had no room.
    func deliver(_ message: MQTTMessage) -> Int {
        var dropped = 0
        for entry in entries {
            let isForIt =
                entry.isExact
                ? entry.filter == message.topic : MQTTTopic.matches(message.topic, filter: entry.filter)
            if isForIt, entry.buffer.add(message) { dropped += 1 }
        }
        return dropped
    }

    /// Notes that a SUBSCRIBE went out.
    mutating func sent(_ id: Int32, _ request: SubscribeRequest) { subscribing[id] = request }

    /// Notes that an UNSUBSCRIBE went out.
    mutating func sent(_ id: Int32, _ request: UnsubscribeRequest) { unsubscribing[id] = request }

    /// Whose SUBSCRIBE was answered.
    mutating func answeredSubscribe(_ id: Int32) -> SubscribeRequest? { subscribing.removeValue(forKey: id) }

    /// Whose UNSUBSCRIBE was answered.
    mutating func answeredUnsubscribe(_ id: Int32) -> UnsubscribeRequest? { unsubscribing.removeValue(forKey: id) }

    /// Whether this request still waits for its SUBACK.
    func awaits(_ request: SubscribeRequest) -> Bool { subscribing.values.contains { $0 === request } }

    /// Ends all readers and tells all who wait.
    mutating func end(_ reason: MQTTReason) {
        for entry in entries { entry.buffer.finish() }
        for request in subscribing.values {
            request.result.resolve(
                .failure(MQTTError(reason, while: "subscribing to \(request.filter)", isUnknown: true))
            )
        }
        for request in unsubscribing.values {
            let action = "unsubscribing from \(request.filter)"
            request.result.resolve(MQTTError(reason, while: action, isUnknown: true))
        }
        entries = []
        subscribing = [:]
        unsubscribing = [:]
    }
}
