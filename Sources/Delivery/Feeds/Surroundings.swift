internal import DataPoints
internal import Diagnostics
internal import Samples

/// What a rule needs beside its own samples when it makes a point.
struct Surroundings: Sendable {
    /// The bridge's name.
    let device: String
    /// The newest position of each stream that a rule names as its `location`.
    var positions: [Name: Position] = [:]

    /// The position to go with a point of that time; nil when it is too old: more than a minute, or one window if longer.
    func location(from stream: Name, at time: Timestamp, every: Duration) -> Location? {
        guard let position = positions[stream] else { return nil }
        let age = time - position.time
        let limit = max(every, .seconds(60))
        return age <= limit && age >= .zero - limit ? position.location : nil
    }
}
