internal import Diagnostics

/// Texts that were sent to a feed lately: what an echo with one of them can mean.
///
/// An echo carries text only. So a text is published over MQTT only when no other echo with it can come any more.
struct SentTexts: Sendable {
    private struct Entry {
        /// An echo with this text may be of another point than the next one until then.
        var ambiguousUntil: BootInstant
        /// An echo with this text is not foreign until then.
        var oursUntil: BootInstant
    }

    private var entries: [String: Entry] = [:]
    /// Texts that went out by MQTT and were not found: what comes very late must not speak for a newer point.
    private var missed: [String: BootInstant] = [:]
    /// What did not fit: everything is ambiguous until then.
    private var allUntil = BootInstant(nanoseconds: .min)

    private static let most = 512
    private static let veryLate = Duration.seconds(300)
    /// How long the second copy of an echo may take, and how far the service's clock may be off for us.
    static let slack = Duration.seconds(4)
    private static let ours = Duration.seconds(60)
    static let never = BootInstant(nanoseconds: .max)

    /// Whether an echo with this text would not say which point it is of.
    func isAmbiguous(_ text: String, at now: BootInstant) -> Bool {
        allUntil > now || (entries[text].map { $0.ambiguousUntil > now } ?? false)
            || (missed[text].map { $0 > now } ?? false)
    }

    /// Whether an echo with this text is ours.
    func isOurs(_ text: String, at now: BootInstant) -> Bool {
        allUntil > now || (entries[text].map { $0.oursUntil > now } ?? false)
            || (missed[text].map { $0 > now } ?? false)
    }

    /// When the first ambiguity ends that has an end.
    func nextChange(after now: BootInstant) -> BootInstant? {
        let ends = entries.values.lazy.map(\.ambiguousUntil).filter { $0 > now && $0 < Self.never }
        return [ends.min(), missed.values.lazy.filter { $0 > now }.min(), allUntil > now ? allUntil : nil].compactMap {
            $0
        }.min()
    }

    /// The text was sent; echoes of it may come until `until`, or until it is settled.
    mutating func sent(_ text: String, until: BootInstant, at now: BootInstant) {
        let known = entries[text]?.ambiguousUntil ?? until
        // What has no end stays so until the point was confirmed by REST.
        let ambiguous = max(known, until)
        entries[text] = Entry(ambiguousUntil: ambiguous, oursUntil: max(ambiguous, now.advanced(by: Self.ours)))
        if entries.count > Self.most { forget(at: now) }
    }

    /// The text was stored by REST: whatever went before, its echoes have an end.
    mutating func settled(_ text: String, until: BootInstant, at now: BootInstant) {
        entries[text] = nil
        sent(text, until: until, at: now)
    }

    /// The text went by MQTT and does not stand there.
    mutating func missed(_ text: String, at now: BootInstant) {
        missed[text] = now.advanced(by: Self.veryLate)
        guard missed.count > Self.most else { return }
        missed = missed.filter { $0.value > now }
        guard missed.count > Self.most else { return }
        allUntil = max(allUntil, now.advanced(by: Self.veryLate))
        missed = [:]
    }

    /// Everything may be echoed until `until`.
    mutating func doubtAll(until: BootInstant) { allUntil = max(allUntil, until) }

    private mutating func forget(at now: BootInstant) {
        entries = entries.filter { $0.value.oursUntil > now }
        guard entries.count > Self.most else { return }
        allUntil = max(allUntil, entries.values.map(\.ambiguousUntil).max() ?? allUntil)
        entries = [:]
    }
}
