public import DataPoints
public import Diagnostics

/// What the publisher wants done, in this order.
public enum PublisherAction: Sendable, Hashable {
    /// Keep this across restarts, durably; it comes before what depends on it.
    case remember(PublisherMemory)

    /// Log in over MQTT: a new handle, clean session. `connected` or `ended` answers under this number.
    case connect(connection: Int)
    /// End that connection; `ended` still has to follow.
    case disconnect(connection: Int)
    /// Subscribe with QoS 1, one SUBSCRIBE a filter; `subscribed` or `subscribeFailed` answers for each.
    case subscribe(connection: Int, [PublisherFilter])
    /// The switch uses this link from now on: over MQTT it asks with `/get`, over REST it polls; nil: neither works.
    case use(PublisherLink?)

    /// Note durably in the outbox that these points are being sent (`attempts` + 1), then publish them as one message.
    /// Whatever goes wrong locally is an end of the connection.
    case publish(connection: Int, message: Int, [PublisherPoint])
    /// Note durably in the outbox that these points are being sent, then post them with their `created_at`.
    case post(request: Int, FeedKey, [PublisherPoint])
    /// List the feed's points with `created_at` from `from` to `to`, both included; `listed` answers.
    case lookUp(request: Int, FeedKey, from: Timestamp, to: Timestamp)
    /// Delete this point of the service: it is the second copy of one of ours.
    case delete(request: Int, FeedKey, StoredPoint)
    /// Read the account's throttle state; `throttle` answers.
    case readThrottle(request: Int)

    /// Read waiting points of the feed with ids above `after`, in order, at most `limit`; `page` answers.
    /// Points that were confirmed or refused by earlier actions are not among them.
    case requestPage(FeedKey, after: Int, limit: Int)
    /// Count the feed's points that are to be sent, up to that id, and look for the points `among`; `counted` answers.
    /// Points that were confirmed or refused by earlier actions are not among them.
    case count(FeedKey, newest: Int, among: [Int])
    /// These points have arrived.
    case confirm([Int])
    /// The service will never take these points: to the dead letters, with the reason.
    case refuse([Int], reason: String)
    /// Note in the outbox that nobody knows whether these points have arrived; they are sent again.
    case markDoubtful([Int])
    /// So many points may stand on the service twice.
    case doubt(Int)
    /// Create the feed if the settings say so (asking for `administer(1)`), then say `feedReady`.
    case feedIsMissing(FeedKey)

    /// Make points only so often; this replaces what was said before, and an empty one ends it.
    case stretch(IntervalStretch)
    /// The request of that number may be done now, over this link.
    case grant(Int, PublisherLink)
    /// The request of that number may not be done; perhaps then.
    case deny(Int, until: BootInstant?)
    /// Something to tell a person, once.
    case report(PublisherReport)
}

/// Something that a person should know.
public enum PublisherReport: Sendable, Hashable {
    /// MQTT is down, why, and when it is tried again; nil: not before the configuration changes.
    case mqttIsDown(LinkReason, nextTry: BootInstant?)
    /// MQTT is up.
    case mqttIsUp
    /// REST took over.
    case restTakesOver
    /// REST is held off.
    case restIsDown(LinkReason, until: BootInstant)
    /// Nothing is sent on either link before that moment, because the service said so.
    case accountIsHeld(LinkReason, until: BootInstant)
    /// The service does not know the key; it is tried again then, or when it changes.
    case keyIsRefused(until: BootInstant)
    /// The account has no room for this feed; its points wait.
    case feedLimit(FeedKey)
    /// The key may not write this feed; its points wait.
    case feedIsForbidden(FeedKey, String)
    /// The service did not grant this subscription.
    case notSubscribed(PublisherFilter)
    /// Rules want more than the budget.
    case stretched(IntervalStretch)
    /// The connection took messages and nothing came back: it is made anew.
    case silentConnection
}
