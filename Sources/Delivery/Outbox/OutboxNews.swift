/// Points that were committed lately, in the order of their ids; a bounded list.
public struct OutboxNews: Sendable {
    /// The points.
    public private(set) var points: [OutboxPoint] = []
    /// Whether there are no others that can be sent since then.
    public internal(set) var isComplete = true

    private static let most = 4096

    mutating func add(_ new: [OutboxPoint]) {
        guard isComplete else { return }
        if points.count + new.count > Self.most {
            isComplete = false
            points = []
        } else {
            points += new
        }
    }
}
