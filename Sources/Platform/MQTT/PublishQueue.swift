internal import Diagnostics

/// What waits to be handed to the library, and what it has and the broker has not acknowledged.
///
/// A value without lock, clock or I/O. The library never holds more than `window` messages: its own queue is unbounded
/// and takes quadratic time.
struct PublishQueue {
    /// A message that the library has.
    struct InFlight {
        var messageID: Int32
        /// Nil once the caller has gone: the acknowledgement is still awaited, for the window.
        var group: PublishGroup?
        var index: Int
        var since: BootInstant
    }

    /// How many messages the library may hold.
    var window: Int
    /// The last id that the library gave out, to publishes and subscribes alike.
    var lastMessageID: Int32 = 0
    private(set) var inFlight: [InFlight] = []
    private(set) var waiting = 0
    private var groups: [(group: PublishGroup, next: Int)] = []
    private var head = 0

    init(window: Int) {
        self.window = window
    }

    /// When the oldest message without an acknowledgement was handed over.
    var oldestUnacknowledged: BootInstant? { inFlight.first?.since }

    /// Adds messages to the end of the line.
    mutating func append(_ group: PublishGroup) {
        guard !group.messages.isEmpty else { return }
        groups.append((group, 0))
        waiting += group.messages.count
    }

    /// How many messages to hand over now.
    func room() -> Int {
        min(max(window - inFlight.count, 0), waiting)
    }

    /// Whether the id that the library gives out next still belongs to a message in flight: ids have 16 bits, and the
    /// library does not look.
    var nextIDIsTaken: Bool {
        let next = lastMessageID % 65_535 + 1
        return inFlight.contains { $0.messageID == next }
    }

    /// Takes the next message out of the line.
    mutating func takeNext() -> (group: PublishGroup, index: Int)? {
        guard head < groups.count else { return nil }
        let (group, index) = groups[head]
        waiting -= 1
        if index + 1 < group.messages.count {
            groups[head].next = index + 1
        } else {
            head += 1
            if head == groups.count || head >= 1024 {
                groups.removeFirst(head)
                head = 0
            }
        }
        return (group, index)
    }

    /// Notes that the library has a message, under this id.
    mutating func handed(_ messageID: Int32, _ group: PublishGroup, _ index: Int, at now: BootInstant) {
        lastMessageID = messageID
        inFlight.append(InFlight(messageID: messageID, group: group, index: index, since: now))
    }

    /// Notes an acknowledgement and says whose message it was; nil when nobody knows the id.
    mutating func acknowledged(_ messageID: Int32) -> InFlight? {
        guard let index = inFlight.firstIndex(where: { $0.messageID == messageID }) else { return nil }
        return inFlight.remove(at: index)
    }

    /// Takes a caller's messages out of the line and says which of them the library has.
    mutating func cancel(_ group: PublishGroup) -> (handed: [Int], unsent: Range<Int>) {
        var handed: [Int] = []
        for position in inFlight.indices where inFlight[position].group === group {
            handed.append(inFlight[position].index)
            inFlight[position].group = nil
        }
        var unsent = 0..<0
        if let position = groups[head...].firstIndex(where: { $0.group === group }) {
            unsent = groups[position].next..<group.messages.count
            waiting -= unsent.count
            groups.remove(at: position)
        }
        return (handed, unsent)
    }

    /// Takes everything out: what the library had, and what it had not.
    mutating func drain() -> (handed: [InFlight], unsent: [(group: PublishGroup, next: Int)]) {
        let result = (inFlight, Array(groups[head...]))
        inFlight = []
        groups = []
        head = 0
        waiting = 0
        return result
    }
}
