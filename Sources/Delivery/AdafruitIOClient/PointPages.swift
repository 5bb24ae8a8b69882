internal import DataPoints
public import Diagnostics

/// Which data points of a feed are asked for.
public struct PointQuery: Sendable, Hashable {
    /// The earliest time.
    public var start: Timestamp?
    /// The latest time.
    public var end: Timestamp?
    /// How many on one page; the service gives at most 1000.
    public var limit: Int?

    /// Asks for all, or for a span.
    public init(start: Timestamp? = nil, end: Timestamp? = nil, limit: Int? = nil) {
        self.start = start
        self.end = end
        self.limit = limit
    }
}

/// One page of a feed's data points, newest first.
public struct PointPage: Sendable, Hashable {
    /// The points.
    public var points: [StoredPoint]
    /// What asks for the next page, which is older; nil on the last.
    public var next: String?
    /// How many points the feed has in all; up to five minutes old.
    public var total: Int?
}

/// The pages of a feed, newest first, fetched one at a time as they are wanted.
public struct PointPages: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = PointPage
    /// What fetching a page throws.
    public typealias Failure = AdafruitIOClientError

    let client: AdafruitIOClient
    let feed: FeedKey
    let query: PointQuery

    /// Starts with the newest page.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: self)
    }

    /// Fetches page after page.
    public struct Iterator: AsyncIteratorProtocol {
        /// A page.
        public typealias Element = PointPage
        /// What fetching a page throws.
        public typealias Failure = AdafruitIOClientError

        let pages: PointPages
        private var before: String?
        private var seen: Set<String> = []
        private var isOver = false

        init(pages: PointPages) {
            self.pages = pages
        }

        /// The next page.
        public mutating func next() async throws(AdafruitIOClientError) -> PointPage? {
            try await next(isolation: nil)
        }

        /// The next page.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(AdafruitIOClientError) -> PointPage? {
            guard !isOver else { return nil }
            // Over also when the page cannot be fetched.
            isOver = true
            let page = try await pages.client.points(in: pages.feed, pages.query, before: before).value
            // A token that comes again would go on for ever.
            if let next = page.next, !page.points.isEmpty, seen.insert(next).inserted {
                before = next
                isOver = false
            }
            return page
        }
    }
}
