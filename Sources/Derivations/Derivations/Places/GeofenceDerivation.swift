internal import Diagnostics
public import Samples

/// Watches circles on `location`: the stream `geofence`, whose `event` is `enter` or `leave`.
///
/// What a phone says about regions that it watches itself (`transitions`, a stream with `region` and `event`) is merged in:
/// each region has one state, whoever tells.
public struct GeofenceDerivation: Derivation {
    /// The name of the kind.
    public static let kind = "geofence"
    /// What can be set: circles, the dwell in seconds, the stream of transitions, and which device.
    public static let keys = ["fence", "dwell", "transitions", "device"]

    /// The name of the kind.
    public var kind: String { GeofenceDerivation.kind }
    /// `location` and the stream of transitions.
    public let inputs: [Name]
    /// `geofence`.
    public let outputs: [Stream]

    private var tracker: GeofenceTracker
    private var clock = EventClock()
    private var enters: Int64 = 0
    private var leaves: Int64 = 0

    /// Makes it for circles given as settings: `fence` is `NAME,LAT,LON,RADIUS`, any number of times.
    public init(_ settings: DerivationSettings = DerivationSettings()) throws(DerivationError) {
        var circles: [GeofenceCircle] = []
        for text in settings.texts("fence") {
            let circle = try GeofenceCircle(text)
            guard !circles.contains(where: { $0.name == circle.name }) else {
                throw DerivationError("There are two fences called \"\(circle.name)\". Give one another name.")
            }
            circles.append(circle)
        }
        tracker = GeofenceTracker(circles, dwell: try settings.number("dwell", in: 0...86_400, usual: 20))
        let transitions = settings.text("transitions") ?? "geofence.owntracks"
        inputs = [settings.name("location"), Name(mapping: transitions)]
        outputs = [settings.stream("geofence")]
        guard inputs[1] != outputs[0].name else {
            throw DerivationError(
                "transitions is \"\(transitions)\", which is the stream that comes out. Name a source's."
            )
        }
    }

    /// Takes fixes and transitions.
    public mutating func receive(_ batch: SampleBatch, into output: inout DerivedSamples) {
        var changes: [GeofenceTracker.Change] = []
        if batch.stream.name == inputs[0] {
            guard let reader = LocationReader(batch.stream) else { return }
            for row in 0..<batch.count {
                guard case .fix(let fix) = reader.read(batch, row) else { continue }
                switch clock.take(fix.time, arrival: batch.arrival) {
                case .late: continue
                case .setBack: tracker.restart()
                case .next: break
                }
                tracker.add(fix) { changes.append($0) }
                if !changes.isEmpty { write(&changes, batch.times[row], into: &output) }
            }
        } else if batch.stream.name == inputs[1] {
            func place(_ name: String) -> Int? { batch.stream.fields.firstIndex { $0.name.text == name } }
            guard let region = place("region"), let event = place("event") else { return }
            for row in 0..<batch.count {
                guard case .text(let name) = batch.value(row: row, field: region),
                    case .text(let word) = batch.value(row: row, field: event), word == "enter" || word == "leave"
                else { continue }
                tracker.follow(name, isInside: word == "enter", at: batch.times[row].nanoseconds) { changes.append($0) }
                write(&changes, batch.times[row], into: &output)
            }
        }
    }

    private mutating func write(
        _ changes: inout [GeofenceTracker.Change],
        _ time: Timestamp,
        into output: inout DerivedSamples
    ) {
        // Leaving one comes before entering the next.
        for change in changes.filter({ !$0.isInside }) + changes.filter(\.isInside) {
            if change.isInside { enters += 1 } else { leaves += 1 }
            output.append(0, time: time, [.text(change.region), .text(change.isInside ? "enter" : "leave")])
        }
        changes.removeAll(keepingCapacity: true)
    }

    /// How often circles were entered and left.
    public var summary: [(name: String, value: Value)] {
        [("enters", .integer(enters)), ("leaves", .integer(leaves))]
    }

    /// The state of every region.
    public var state: [UInt8]? { Array(tracker.state.utf8) }

    /// Takes the state of every region that is still watched.
    public mutating func restore(_ state: [UInt8]) {
        tracker.restore(String(decoding: state, as: UTF8.self))
    }
}
