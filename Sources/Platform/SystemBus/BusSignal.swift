/// A signal that came over the bus.
public struct BusSignal: Sendable, Hashable {
    /// The unique name of the connection that sent it, such as `:1.5`.
    public let sender: String
    /// The object that it is about.
    public let path: String
    /// Its interface.
    public let interface: String
    /// Its name.
    public let member: String
    /// Its arguments.
    public let arguments: [BusValue]
}

/// Which signals are wanted. What is nil is not asked for.
public struct BusMatch: Sendable, Hashable {
    /// Who sends them: a well-known name such as `org.bluez`.
    public var sender: String?
    /// The object.
    public var path: String?
    /// The object or any below it.
    public var pathNamespace: String?
    /// The interface.
    public var interface: String?
    /// The signal's name.
    public var member: String?
    /// The first argument, a text.
    public var argument0: String?

    /// Matches every signal until something is set.
    public init(
        sender: String? = nil,
        path: String? = nil,
        pathNamespace: String? = nil,
        interface: String? = nil,
        member: String? = nil,
        argument0: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.argument0 = argument0
    }

    /// The rule as the bus takes it. Values are names of our own making; a quote in one would end it, so none is let in.
    var rule: String {
        var parts = ["type='signal'"]
        for (key, value) in [
            ("sender", sender), ("path", path), ("path_namespace", pathNamespace), ("interface", interface),
            ("member", member), ("arg0", argument0),
        ] {
            if let value { parts.append("\(key)='\(value.filter { $0 != "'" && $0 != "," })'") }
        }
        return parts.joined(separator: ",")
    }
}

/// Signals of one match, in their order. A buffer that is full drops the newest and counts them.
public struct BusSignals: AsyncSequence, Sendable {
    let stream: AsyncStream<BusSignal>
    let droppedCounter: DropCounter

    /// How many signals a full buffer has dropped: what they said must be asked for.
    public var dropped: Int { droppedCounter.value }

    /// Iterates; by one task.
    public func makeAsyncIterator() -> AsyncStream<BusSignal>.Iterator { stream.makeAsyncIterator() }
}
