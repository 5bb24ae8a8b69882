internal import Samples

/// Measures a run: its distance, its time, the time of moving, its climb.
///
/// Legs between fixes are counted as they are while one moves, as gpxpy does, but only once they are so old that it is known
/// that one moved: noise of one who stands is never counted. Someone who stands has to get away from there before
/// anything counts, and then all counts from where he left.
struct RunTracker: Sendable {
    private enum Phase: Sendable {
        /// Too little is known since the first fix.
        case undecided
        case moving
        case standing
    }

    private let tuning: RunTuning
    private var filter: FixFilter
    private var phase = Phase.undecided
    /// The last fix that is counted; the ones after it are in `tail`.
    private var base: LocationFix?
    private var tail: [LocationFix] = []
    /// The last fixes that are counted, base included: what smoothing looks back on.
    private var before: [LocationFix] = []
    /// Up to where the way is counted: the base, or where it would be without noise.
    private var reached: GeoPosition?
    private var isNoisy = false
    /// Where one stands, or began.
    private var anchor: GeoPosition?
    private var doppler = DopplerTrust()
    private var climb = ClimbMeter()
    private var splitStart = (distance: 0.0, moving: 0.0, up: 0.0)
    private var splits = 0

    /// Metres that are counted.
    private(set) var distance = 0.0
    /// Nanoseconds from the first fix to the last, without gaps and manual pauses.
    private(set) var duration: Int64 = 0
    /// Seconds of moving.
    private(set) var moving = 0.0
    /// When the first fix was.
    private(set) var start: Int64?
    /// Whether the user has stopped the clock.
    private(set) var isHeld = false

    init(_ tuning: RunTuning = RunTuning()) {
        self.tuning = tuning
        filter = FixFilter(tuning)
    }

    /// Goes on from totals that were kept over a restart; what lies between is a gap.
    init(_ tuning: RunTuning, distance: Double, duration: Int64, moving: Double, start: Int64) {
        self.init(tuning)
        self.distance = distance
        self.duration = duration
        self.moving = moving
        self.start = start
        splits = Int(min(1e6, distance / tuning.split))
        splitStart = (Double(splits) * tuning.split, moving, 0)
    }

    /// Metres up.
    var up: Double { climb.up }
    /// Metres down.
    var down: Double { climb.down }
    /// Whether one stands, or has stopped the clock.
    var isPaused: Bool { isHeld || phase == .standing }

    /// How many fixes are kept because it is not decided yet whether they count.
    var waiting: Int { tail.count }

    /// Metres so far, with those that are not certain yet.
    var shownDistance: Double {
        guard phase == .moving, let base, let last = tail.last else { return distance }
        return distance + base.place.distance(to: last.place)
    }

    /// Metres a second over the last seconds, or nil while standing.
    var speed: Double? {
        guard phase == .moving, let base, let last = tail.last else { return nil }
        let seconds = last.seconds(since: base)
        return seconds >= 5 ? base.place.distance(to: last.place) / seconds : last.speed
    }

    /// Takes the next fix; its time must be later than that of the one before. Gives whether it counts.
    mutating func add(_ fix: LocationFix, _ tell: (RunEvent) -> Void) -> Bool {
        guard !isHeld else { return false }
        switch filter.judge(fix) {
        case .ignore: return false
        case .restart: restart(at: fix, tell)
        case .follow: follow(fix, tell)
        }
        return true
    }

    /// What comes next does not belong to what came before.
    mutating func interrupt(_ tell: (RunEvent) -> Void) {
        settle(tell)
        base = nil
        tail.removeAll(keepingCapacity: true)
        filter.restart()
        climb.close()
        phase = .undecided
    }

    /// Stops the clock until `release`: what happens meanwhile does not count.
    mutating func hold(at time: Int64, _ tell: (RunEvent) -> Void) {
        guard !isHeld else { return }
        interrupt(tell)
        isHeld = true
        tell(.paused(time))
    }

    /// Lets the clock go on.
    mutating func release(at time: Int64, _ tell: (RunEvent) -> Void) {
        guard isHeld else { return }
        isHeld = false
        tell(.resumed(time))
    }

    /// Counts what waited: nothing will follow.
    mutating func settle(_ tell: (RunEvent) -> Void) {
        guard phase != .standing else { return }
        commit(tail.count, tell)
    }

    private mutating func restart(at fix: LocationFix, _ tell: (RunEvent) -> Void) {
        if start == nil {
            start = fix.time
            tell(.started(fix.time))
        } else if base != nil {
            tell(.gap(fix.time))
        }
        settle(tell)
        climb.close()
        if let altitude = fix.altitude { climb.add(altitude) }
        begin(at: fix)
        tail.removeAll(keepingCapacity: true)
        anchor = fix.place
        phase = .undecided
    }

    private mutating func begin(at fix: LocationFix) {
        base = fix
        reached = fix.place
        before = [fix]
    }

    private mutating func follow(_ fix: LocationFix, _ tell: (RunEvent) -> Void) {
        duration &+= fix.time &- (tail.last ?? base ?? fix).time
        tail.append(fix)
        switch phase {
        case .moving: move(fix, tell)
        case .standing, .undecided: wait(fix, tell)
        }
        if phase == .moving, let altitude = fix.altitude { climb.add(altitude) }
    }

    private mutating func move(_ fix: LocationFix, _ tell: (RunEvent) -> Void) {
        let start = windowStart
        guard let test = StandingTest(tail[start...], atLeast: windowFixes, spread: spread(fix)) else {
            return commit(max(0, tail.count - RunTracker.mostWaiting), tell)
        }
        doppler.compare(tail[start...])
        isNoisy = NoiseTest.isNoisy(tail[start...])
        let isStanding = test.isStanding && !(doppler.isTrusted && doppler.isMoving(tail[start...]))
        if isStanding || doppler.isStanding(tail) {
            stand(at: test.middle, since: start, fix, tell)
        } else {
            commit(start, tell)
        }
    }

    private mutating func stand(at place: GeoPosition, since start: Int, _ fix: LocationFix, _ tell: (RunEvent) -> Void)
    {
        doppler.doubt(tail[start...])
        commit(start + 1, tell)
        anchor = place
        phase = .standing
        tail.removeAll(keepingCapacity: true)
        tail.append(fix)
        if tuning.autoPause { tell(.paused(fix.time)) }
    }

    /// Stands, or has only begun.
    private mutating func wait(_ fix: LocationFix, _ tell: (RunEvent) -> Void) {
        guard let anchor else { return }
        if hasLeft(anchor, fix) { return leave(anchor, fix, tell) }
        if phase == .undecided {
            let start = windowStart
            if let test = StandingTest(tail[start...], atLeast: windowFixes, spread: spread(fix)), test.isStanding {
                // Nothing has been counted yet, so it began here.
                begin(at: tail[start])
                self.anchor = test.middle
                phase = .standing
                tail.removeFirst(start)
                if tuning.autoPause { tell(.paused(fix.time)) }
            }
        } else {
            // Follows the slow drift of a receiver at rest.
            let offset = anchor.offset(to: fix.place)
            self.anchor = anchor.moved(east: 0.02 * offset.east, north: 0.02 * offset.north) ?? anchor
        }
        if tail.count > RunTracker.mostWaiting { tail.removeFirst(tail.count - RunTracker.mostWaiting) }
    }

    private func hasLeft(_ anchor: GeoPosition, _ fix: LocationFix) -> Bool {
        let far = min(50, max(RunTuning.departure, 2 * (fix.accuracy ?? 0)))
        guard anchor.distance(to: fix.place) > far else {
            return phase == .standing && doppler.isGoing(tail) && anchor.distance(to: fix.place) > 4
        }
        // One wild fix is no departure: of fixes that come quickly three have to agree.
        guard (filter.usualInterval ?? 0) < 5 else { return true }
        let recent = tail.suffix(3)
        guard recent.count == 3 else { return phase == .undecided }
        return recent.allSatisfy { anchor.distance(to: $0.place) > 0.6 * far }
    }

    private mutating func leave(_ anchor: GeoPosition, _ fix: LocationFix, _ tell: (RunEvent) -> Void) {
        let wasStanding = phase == .standing
        phase = .moving
        if wasStanding {
            // A lift, or the drift of a receiver, is no climb.
            climb.close()
            if tuning.autoPause { tell(.resumed(fix.time)) }
            // From where one was near the place for the last time. What lies before is noise, unless one crept along.
            let near = tail.lastIndex { anchor.distance(to: $0.place) <= RunTuning.departure / 3 }
            if let base {
                let crept = base.place.distance(to: anchor)
                if crept > RunTuning.departure / 3 { count(metres: crept, seconds: 0, at: base.time, tell) }
            }
            var first = near.map { tail[$0] } ?? tail[0]
            first.place = anchor
            begin(at: first)
            if let near { tail.removeFirst(near + 1) }
        }
        move(fix, tell)
    }

    /// Where the window begins that tells whether one stands.
    private var windowStart: Int {
        guard let last = tail.last else { return 0 }
        let enough = tail.lastIndex { last.seconds(since: $0) >= RunTuning.window } ?? 0
        return max(0, min(enough, tail.count - windowFixes))
    }

    private var windowFixes: Int {
        (filter.usualInterval ?? 0) > 3 ? RunTuning.sparseWindowFixes : RunTuning.windowFixes
    }

    private func spread(_ fix: LocationFix) -> Double {
        max(RunTuning.spread, min(30, fix.accuracy ?? 0))
    }

    /// Counts the first `count` legs of the tail.
    private mutating func commit(_ count: Int, _ tell: (RunEvent) -> Void) {
        guard count > 0, var previous = base else { return }
        for place in tail.indices.prefix(count) {
            let fix = tail[place]
            let target = isNoisy ? smoothed(place) : fix.place
            let metres = (reached ?? previous.place).distance(to: target)
            let seconds = fix.seconds(since: previous)
            // Of a slow leg most was standing; the rest was walking.
            let isSlow = metres < RunTuning.slowest * seconds
            self.count(metres: metres, seconds: isSlow ? min(seconds, metres) : seconds, at: fix.time, tell)
            reached = target
            previous = fix
            before.append(fix)
            if before.count > RunTracker.reach { before.removeFirst() }
        }
        base = previous
        tail.removeFirst(min(count, tail.count))
    }

    /// The middle of the fixes around one of the tail, as many before it as after it.
    private func smoothed(_ place: Int) -> GeoPosition {
        let fix = tail[place]
        let after = tail[(place + 1)...].prefix(RunTracker.reach)
        let earlier = before + tail[..<place]
        let count = min(after.count, min(earlier.count, RunTracker.reach))
        var sum = (east: 0.0, north: 0.0)
        for other in Array(after.prefix(count)) + earlier.suffix(count) {
            let offset = fix.place.offset(to: other.place)
            sum.east += offset.east
            sum.north += offset.north
        }
        let share = 1 / Double(2 * count + 1)
        return fix.place.moved(east: sum.east * share, north: sum.north * share) ?? fix.place
    }

    private mutating func count(metres: Double, seconds: Double, at time: Int64, _ tell: (RunEvent) -> Void) {
        let before = (distance: distance, moving: moving)
        distance += metres
        moving += seconds
        while distance - splitStart.distance >= tuning.split, splits < 1_000_000 {
            let end = splitStart.distance + tuning.split
            let share = metres > 0 ? (end - before.distance) / metres : 1
            let then = before.moving + share * seconds
            splits += 1
            tell(
                .split(
                    RunSplit(
                        number: splits,
                        time: time &- Int64((1 - share) * seconds * 1e9),
                        distance: tuning.split,
                        moving: then - splitStart.moving,
                        climb: climb.up - splitStart.up
                    )
                )
            )
            splitStart = (end, then, climb.up)
        }
    }

    /// Smoothing looks so many fixes ahead and back.
    private static let reach = 7
    /// More fixes are not kept.
    private static let mostWaiting = 64
}
