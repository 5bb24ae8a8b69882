internal import Control
internal import DataPoints

/// Reads the control feed's newest value with its time, by REST.
protocol ControlFeedReader: Sendable {
    /// The answer as an event for the switch; never throws, a failure is an event too.
    func lastValue(of feed: FeedKey, read: Int) async -> SwitchEvent
}
