public import Diagnostics

/// The switch: the control feed holds what is wanted, the recorder does it, and the status feed says what is done.
///
/// A value without clock, lock or I/O: events in, actions out, to be done in their order. Whoever owns it hands in
/// `.tick` when `deadline` has come. It follows these rules:
///
/// - What stands on the feed is followed; the service's order decides. Words that mean nothing change nothing.
/// - A decision that was made here is `pending` until it stands on the feed or the user has spoken after it. It is written
///   when the recorder has done it, the feed has been read on this connection and differs, and the last write is 5 s ago.
/// - Over MQTT, values come in the service's order: until the echo of a write is seen they are older than it. An answer
///   that was asked for before the decision is older than the decision. Everything else is newer.
/// - A read by REST counts by its number: a write makes all reads before it stale.
public struct SwitchStateMachine: Sendable {
    /// How it behaves.
    public let settings: SwitchSettings
    let bootID: String

    // What is wanted and done.
    var memory: SwitchMemory
    var recorder = Recorder.stopped
    // The feed.
    var link: SwitchLink?
    var connectedAt: BootInstant?
    var feed = Feed.unread
    var reading: Reading?
    /// When answers over MQTT were asked for that have not come.
    var asked: [BootInstant] = []
    var nextRead = 0
    var readAt: BootInstant?
    var failedReads = 0
    var doubtful: SwitchMemory.Followed?
    // The one slot.
    var writing: Writing?
    var nextWrite = 0
    var lastWrite: BootInstant?
    // The status feed.
    var status = "stopped"
    var report: String?
    var reported: String?
    var told: String?
    var lastTold: BootInstant?

    var actions: [SwitchAction] = []

    enum Recorder {
        case stopped
        case starting
        case running
        case stopping
    }

    /// What is known to stand on the feed.
    enum Feed: Equatable {
        case unread
        case empty
        case state(SwitchState)
        case unknownWord
    }

    enum Reading: Equatable {
        /// An answer over MQTT is awaited.
        case answer(until: BootInstant, attempt: Int)
        /// A retained message is awaited, which need not exist.
        case retained(until: BootInstant)
        /// An answer to this read by REST is awaited.
        case last(Int)
    }

    struct Writing {
        var id: Int
        var state: SwitchState
        var text: String
        var until: BootInstant
        /// The newest other value that came meanwhile.
        var missed: String?
    }

    /// Makes a switch that goes on from `memory`; `bootID` tells whether its times are of this boot.
    public init(settings: SwitchSettings, memory: SwitchMemory = SwitchMemory(), bootID: String = BootID.current) {
        self.settings = settings
        self.memory = memory
        self.bootID = bootID
    }

    /// What is wanted now.
    public var wanted: SwitchState { memory.wanted }

    /// Why.
    public var reason: SwitchReason { memory.reason }

    /// Since when; nil before anything was wanted.
    public var since: Timestamp? { memory.since.map(Timestamp.init(nanoseconds:)) }

    /// What the recorder does now; nil while it starts or stops.
    public var applied: SwitchState? {
        switch recorder {
        case .stopped: .off
        case .running: .on
        case .starting, .stopping: nil
        }
    }

    /// Takes in what happened at `now`; returns what is to be done, in order.
    public mutating func handle(_ event: SwitchEvent, at now: SwitchMoment) -> [SwitchAction] {
        let before = memory
        actions = []
        switch event {
        case .launched: launched(now)
        case .connected(let link): connected(link, now)
        case .disconnected: disconnected()
        case .arrived(let text, let retained): arrived(text, retained: retained, now)
        case .last(let text, let createdAt, let clockOffset, let read):
            answered(read: read, now) { machine in
                machine.last(text, createdAt: createdAt, clockOffset: clockOffset, now)
            }
        case .empty(let read): answered(read: read, now) { machine in machine.feedIsEmpty(now) }
        case .readFailed(let read): readFailed(read, now)
        case .written(let createdAt, let write):
            if writing?.id == write { stored(createdAt: createdAt, now) }
        case .writeFailed(let write):
            if writing?.id == write { writeIsUnknown(now) }
        case .command(.start): decide(.on, .command, now)
        case .command(.stop): decide(.off, .command, now)
        case .command(.toggle): decide(wanted.opposite, .command, now)
        case .schedule(let state): decide(state, .schedule, now)
        case .alert(let state): decide(state, .alert, now)
        case .limitReached: decide(.off, .limit, now)
        case .started(let session): started(session)
        case .startFailed(let text): startFailed(text, now)
        case .stopped: stopped()
        case .broke(let text): broke(text, now)
        case .tick: break
        }
        settle(now)
        if memory != before { actions.insert(.remember(memory), at: 0) }
        return actions
    }

    /// When `.tick` is to be handed in, if nothing happens before; nil when there is nothing to wait for.
    public var deadline: BootInstant? {
        var instants: [BootInstant?] = [writing?.until, link == nil ? nil : readAt, writeDue, tellDue]
        switch reading {
        case .answer(let until, _), .retained(let until): instants.append(until)
        case .last, nil: break
        }
        return instants.compactMap { $0 }.min()
    }

    /// Does all that is due.
    private mutating func settle(_ now: SwitchMoment) {
        if let writing, writing.until <= now.boot { echoIsMissing(now) }
        readingIsDue(now)
        write(now)
        tell(now)
    }
}
