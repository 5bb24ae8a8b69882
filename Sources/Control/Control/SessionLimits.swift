/// How long a session may be and how full the disk may get.
public struct SessionLimits: Sendable, Hashable {
    /// The longest session; nil for no limit.
    public var longestSession: Duration?
    /// The least number of bytes that stay free where recordings are kept; nil for no limit.
    public var smallestFree: Int64?

    /// Makes limits.
    public init(longestSession: Duration?, smallestFree: Int64?) {
        self.longestSession = longestSession
        self.smallestFree = smallestFree
    }

    /// Which limit was reached.
    public enum Reached: Sendable, Hashable, CustomStringConvertible {
        /// The session is as long as it may be.
        case longestSession(Duration)
        /// Fewer bytes are free than must be.
        case smallestFree(free: Int64, limit: Int64)

        /// One sentence with the remedy.
        public var description: String {
            switch self {
            case .longestSession(let limit):
                "The session has lasted \(limit), which is as long as it may: see `longest_session`."
            case .smallestFree(let free, let limit):
                "Only \(free) bytes are free and \(limit) must stay so: free space, or lower `smallest_free`."
            }
        }
    }

    /// Whether a session of `age`, with `free` bytes left (nil when that is not known), has to end.
    public func reached(age: Duration, free: Int64?) -> Reached? {
        if let smallestFree, let free, free < smallestFree {
            return .smallestFree(free: free, limit: smallestFree)
        }
        if let longestSession, age >= longestSession { return .longestSession(longestSession) }
        return nil
    }

    /// How long a session of `age` may still go on; nil when there is no such limit.
    public func timeLeft(age: Duration) -> Duration? {
        longestSession.map { max($0 - age, .zero) }
    }
}
