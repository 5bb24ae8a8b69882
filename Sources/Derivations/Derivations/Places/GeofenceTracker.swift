internal import Samples

/// Watches circles: who enters and who leaves, by fixes and by what others say.
struct GeofenceTracker: Sendable {
    /// A change.
    struct Change: Sendable, Hashable {
        var region: String
        var isInside: Bool
    }

    private var circles: [GeofenceCircle]
    private var states: [GeofenceState]
    private var numbers: [String: Int] = [:]
    private let grid: GeofenceGrid
    /// The circles that a fix elsewhere concerns: one is inside, a change is not certain, or nothing is known.
    private var concerned: [Int]
    private var isConcerned: [Bool]
    /// How long a change has to last, in nanoseconds.
    private let dwell: Int64
    private var last: LocationFix?
    private var jump: (fix: LocationFix, count: Int)?
    /// Regions that only others know, by name.
    private var foreign: [String: GeofenceState] = [:]

    /// Nobody moves faster, in m/s.
    private static let fastest = 70.0
    /// So many fixes in a row at another place are a jump that is believed.
    private static let believed = 3
    /// What a fix may be off at most, when somebody leaves.
    private static let mostAccuracy = 50.0
    private static let mostForeign = 256

    init(_ circles: [GeofenceCircle], dwell: Double = 20) {
        self.circles = circles
        self.dwell = Int64(dwell * 1e9)
        states = Array(repeating: GeofenceState(), count: circles.count)
        grid = GeofenceGrid(circles)
        concerned = Array(circles.indices)
        isConcerned = Array(repeating: true, count: circles.count)
        for (number, circle) in circles.enumerated() { numbers[circle.name] = number }
    }

    /// Takes the next fix; its time must be later than that of the one before.
    mutating func add(_ fix: LocationFix, _ tell: (Change) -> Void) {
        guard isPlausible(fix) else { return }
        last = fix
        var kept = 0
        for place in concerned.indices {
            let number = concerned[place]
            look(number, fix, tell)
            // Outside for certain: only a fix within concerns it again.
            if states[number].side == .outside, !states[number].isWaiting {
                isConcerned[number] = false
            } else {
                concerned[kept] = number
                kept += 1
            }
        }
        concerned.removeLast(concerned.count - kept)
        grid.forEach(at: fix.place) { number in
            guard !isConcerned[number] else { return }
            look(number, fix, tell)
            guard states[number].isWaiting else { return }
            isConcerned[number] = true
            concerned.append(number)
        }
    }

    /// Takes what somebody else says about a region, perhaps of one that is not known here.
    mutating func follow(_ region: String, isInside: Bool, at time: Int64, _ tell: (Change) -> Void) {
        let side = isInside ? GeofenceState.Side.inside : .outside
        if let number = numbers[region] {
            guard states[number].follow(side, at: time) != nil else { return }
            if !isConcerned[number] {
                isConcerned[number] = true
                concerned.append(number)
            }
        } else {
            guard foreign[region] != nil || foreign.count < GeofenceTracker.mostForeign else { return }
            guard foreign[region, default: GeofenceState()].follow(side, at: time) != nil else { return }
        }
        tell(Change(region: region, isInside: isInside))
    }

    /// Forgets the last fix, when the clock was set back.
    mutating func restart() {
        last = nil
        jump = nil
    }

    private mutating func isPlausible(_ fix: LocationFix) -> Bool {
        guard let last else { return true }
        let seconds = fix.seconds(since: last)
        guard seconds > 0 else { return false }
        if last.place.distance(to: fix.place) <= GeofenceTracker.fastest * max(seconds, 1) {
            jump = nil
            return true
        }
        guard let jump,
            jump.fix.place.distance(to: fix.place) <= GeofenceTracker.fastest * max(1, fix.seconds(since: jump.fix))
        else {
            self.jump = (fix, 1)
            return false
        }
        self.jump = (fix, jump.count + 1)
        guard jump.count + 1 >= GeofenceTracker.believed else { return false }
        self.jump = nil
        return true
    }

    private mutating func look(_ number: Int, _ fix: LocationFix, _ tell: (Change) -> Void) {
        let circle = circles[number]
        let accuracy = fix.accuracy ?? 0
        guard accuracy <= max(100, circle.radius) else { return }
        let distance = circle.middle.distance(to: fix.place)
        let side: GeofenceState.Side =
            if distance <= circle.radius {
                .inside
            } else if distance - min(accuracy, GeofenceTracker.mostAccuracy) > circle.outerRadius {
                .outside
            } else {
                .unknown
            }
        let before = states[number].side
        guard let after = states[number].take(side, at: fix.time, dwell: dwell) else { return }
        // Being found outside at first is no news.
        guard before != .unknown || after == .inside else { return }
        tell(Change(region: circle.name, isInside: after == .inside))
    }
}

extension GeofenceTracker {
    /// What has to be known after a restart, as lines of text: the last fix, then each region.
    var state: String {
        var lines = ["1"]
        if let last { lines[0] += " \(last.time) \(last.place.latitude) \(last.place.longitude)" }
        for (number, state) in states.enumerated() where state.side != .unknown {
            lines.append(GeofenceTracker.line(state, circles[number].name))
        }
        for (name, state) in foreign.sorted(by: { $0.key < $1.key }) { lines.append(GeofenceTracker.line(state, name)) }
        return lines.joined(separator: "\n")
    }

    /// Goes on from what `state` gave; regions that are not watched any more are forgotten, or known as others'.
    mutating func restore(_ text: String) {
        let lines = text.split(separator: "\n")
        guard let head = lines.first?.split(separator: " "), head.first == "1" else { return }
        if head.count == 4, let time = Int64(head[1]), let latitude = Double(head[2]), let longitude = Double(head[3]),
            let place = GeoPosition(latitude: latitude, longitude: longitude)
        {
            last = LocationFix(time: time, place: place)
        }
        for line in lines.dropFirst() {
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let side = parts[0].first.flatMap(GeofenceState.Side.init),
                let since = Int64(parts[1])
            else { continue }
            let state = GeofenceState(side: side, since: since)
            if let number = numbers[String(parts[2])] {
                states[number] = state
            } else if foreign.count < GeofenceTracker.mostForeign {
                foreign[String(parts[2])] = state
            }
        }
    }

    private static func line(_ state: GeofenceState, _ name: String) -> String {
        let flat = String(name.map { $0.isNewline ? " " : $0 })
        return "\(state.side.rawValue) \(state.since) \(flat)"
    }
}
