internal import Samples

/// Whether the speeds that a receiver says can be believed, and what they say.
///
/// They come from the Doppler effect and know standing from going sooner than places do, but some sources say 0 for ever,
/// or make them from the same noisy places.
struct DopplerTrust: Sendable {
    /// They agreed with the way that was made.
    private(set) var isTrusted = false

    /// Compares them with the way over a window in which one moved.
    mutating func compare(_ fixes: ArraySlice<LocationFix>) {
        guard let first = fixes.first, let last = fixes.last, let mean = mean(fixes) else {
            isTrusted = false
            return
        }
        let seconds = last.seconds(since: first)
        guard seconds > 0 else { return }
        let speed = first.place.distance(to: last.place) / seconds
        guard speed > RunTuning.going else { return }
        isTrusted = (0.6...1.6).contains(mean / speed)
    }

    /// The places say that one stands: speeds that say otherwise are wrong.
    mutating func doubt(_ fixes: ArraySlice<LocationFix>) {
        if let mean = mean(fixes), mean > RunTuning.going { isTrusted = false }
    }

    /// Whether the last three say that one stands.
    func isStanding(_ fixes: [LocationFix]) -> Bool {
        isTrusted && fixes.count >= 3 && fixes.suffix(3).allSatisfy { ($0.speed ?? .infinity) < RunTuning.standing }
    }

    /// Whether the last three say that one goes.
    func isGoing(_ fixes: [LocationFix]) -> Bool {
        isTrusted && fixes.count >= 3 && fixes.suffix(3).allSatisfy { ($0.speed ?? 0) > RunTuning.going }
    }

    /// Whether they say that one moved all the time.
    func isMoving(_ fixes: ArraySlice<LocationFix>) -> Bool {
        fixes.allSatisfy { ($0.speed ?? 0) > RunTuning.going }
    }

    private func mean(_ fixes: ArraySlice<LocationFix>) -> Double? {
        var sum = 0.0
        for fix in fixes {
            guard let speed = fix.speed else { return nil }
            sum += speed
        }
        return fixes.isEmpty ? nil : sum / Double(fixes.count)
    }
}
