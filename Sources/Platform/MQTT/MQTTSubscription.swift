/// A subscription: what the broker granted, and the messages that come for it.
public final class MQTTSubscription: Sendable {
    /// What was subscribed to.
    public let filter: String
    /// The highest promise that the broker makes for it.
    public let grantedQoS: MQTTQoS
    let buffer: MessageBuffer

    init(filter: String, grantedQoS: MQTTQoS, buffer: MessageBuffer) {
        self.filter = filter
        self.grantedQoS = grantedQoS
        self.buffer = buffer
    }

    /// The messages in the order of their arrival, until the subscription or the connection ends.
    ///
    /// Several readers share them: each message goes to one. When the task is cancelled the loop ends and nothing is
    /// lost: a later loop goes on where it stopped.
    public var messages: MQTTMessages { MQTTMessages(buffer: buffer) }

    /// How many messages were dropped because the buffer was full.
    public var dropped: Int { buffer.dropped }
}

/// The messages of a subscription.
public struct MQTTMessages: AsyncSequence, Sendable {
    let buffer: MessageBuffer

    /// Takes messages from the subscription's buffer.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let buffer: MessageBuffer

        /// The next message; nil at the end, or when the task is cancelled.
        public mutating func next() async -> MQTTMessage? {
            await buffer.next()
        }
    }

    /// Starts to take messages.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(buffer: buffer) }
}
