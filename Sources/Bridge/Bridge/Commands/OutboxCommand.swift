internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import Outbox

/// `feedbridge outbox`: the data points that wait, and those that were refused, whether the bridge runs or not.
public struct OutboxCommand: Command {
    /// What to do.
    public enum Action: Sendable, Hashable {
        /// Count the points.
        case stats(json: Bool)
        /// Show the points; of one state only, if given.
        case list(state: String?, json: Bool)
        /// Print all points as JSON lines.
        case export
        /// Make a refused point wait again; nil: all of them.
        case retry(id: Int64?)
        /// Drop all points of a feed that wait.
        case drop(feed: String)
    }

    private let action: Action

    /// Makes the command.
    public init(_ action: Action) {
        self.action = action
    }

    /// Reads the outbox of the configuration's state directory; changes go through the running bridge, if there is one.
    public func run(_ context: CommandContext) async throws {
        let directory = try StateDirectory(try context.configuration(), environment: context.environment)
        let reader = OutboxReader(folder: directory.path)
        switch action {
        case .stats(let json): try await stats(reader, json, context)
        case .list(let state, let json): try await list(reader, state, json, context)
        case .export:
            try await OutboxListing(reader: reader).each { context.output($0.serialized() + "\n") }
        case .retry(let id):
            let body: JSON = ["action": "retry", "id": id.map { .number(JSONNumber($0)) } ?? "all"]
            let count = try await change(body, directory, context.log) { store in
                try await id.map { [$0] }.retry(in: store)
            }
            context.output("\(count) points wait again\n")
        case .drop(let feed):
            guard let key = FeedKey(feed) else { throw CommandError("\"\(feed)\" is no key of a feed") }
            let body: JSON = ["action": "drop", "feed": .string(feed)]
            let count = try await change(body, directory, context.log) { store in try await store.drop(feed: key) }
            context.output("\(count) points dropped\n")
        }
    }

    private func stats(_ reader: OutboxReader, _ json: Bool, _ context: CommandContext) async throws {
        let (statistics, oldest) = try await reader.statistics()
        let counts = statistics.total
        if json {
            var object = counts.json
            object["backlog"] = [
                "points": JSON(counts.pending), "bytes": JSON(reader.files.usedBytes()),
                "oldest": JSON(oldest?.description),
                "eta_s": nil,
            ]
            context.output(JSON.object(object).serialized() + "\n")
            return
        }
        var lines = [
            "accepted   \(counts.accepted)", "confirmed  \(counts.confirmed)", "refused    \(counts.refused)",
            "evicted    \(counts.evicted)", "pending    \(counts.pending)", "doubt      \(counts.doubt)",
        ]
        if let oldest { lines.append("oldest     \(oldest)") }
        for (feed, counts) in statistics.feeds.sorted(by: { $0.key < $1.key }) {
            lines.append("  \(feed.text.padded(to: 28)) pending \(counts.pending), evicted \(counts.evicted)")
        }
        context.output(lines.joined(separator: "\n") + "\n")
    }

    private func list(_ reader: OutboxReader, _ state: String?, _ json: Bool, _ context: CommandContext) async throws {
        let states = PointState.allCases.map(\.rawValue) + [OutboxListing.refused]
        if let state, !states.contains(state) {
            throw CommandError("--state must be one of \(states.joined(separator: ", ")), not \"\(state)\"")
        }
        var isFirst = true
        if json { context.output("[") }
        try await OutboxListing(reader: reader, state: state).each { point in
            if json {
                context.output((isFirst ? "" : ",") + point.serialized())
            } else {
                func text(_ key: String) -> String { point[key]?.string ?? point[key]?.serialized() ?? "" }
                let head =
                    "\(text("id").padded(to: 8))\(text("created_at").padded(to: 26))\(text("state").padded(to: 10))"
                context.output(
                    "\(head)\(text("feed").padded(to: 24))\(text("value")) \(point["reason"]?.string ?? "")\n"
                )
            }
            isFirst = false
        }
        if json { context.output("]\n") }
    }

    /// Through the running bridge, which owns the file; else by ourselves.
    private func change(
        _ body: JSON,
        _ directory: StateDirectory,
        _ log: Log,
        alone: (OutboxStore) async throws -> Int
    ) async throws -> Int {
        do {
            return try await LocalClient(directory).call("POST", "/outbox", body)["points"]?.int ?? 0
        } catch is LocalClient.NotRunning {
            let store = try await OutboxStore.open(folder: directory.path, log: log)
            let count = try await alone(store)
            try await store.close()
            return count
        }
    }
}

/// The points of an outbox as JSON objects, page by page.
struct OutboxListing: Sendable {
    /// The word for points that the service will not take.
    static let refused = "refused"

    let reader: OutboxReader
    var state: String?

    func each(_ body: (JSON) -> Void) async throws {
        if state != Self.refused {
            var last = Int64.min
            while true {
                let page = try await reader.points(in: state.flatMap(PointState.init), after: last)
                guard let end = page.last else { break }
                last = end.id
                for point in page {
                    body(Self.json(point.id, point.point, point.state.rawValue, point.attempts, nil))
                }
            }
        }
        guard state == nil || state == Self.refused else { return }
        var last = Int64.min
        while true {
            let page = try await reader.deadLetters(after: last)
            guard let end = page.last else { return }
            last = end.id
            for letter in page {
                body(Self.json(letter.id, letter.point, Self.refused, letter.attempts, letter.reason))
            }
        }
    }

    private static func json(_ id: Int64, _ point: DataPoint, _ state: String, _ attempts: Int, _ reason: String?)
        -> JSON
    {
        [
            "id": .number(JSONNumber(id)), "feed": .string(point.feed.text), "value": .string(point.value),
            "created_at": .string(point.createdAt.description), "state": .string(state), "attempts": JSON(attempts),
            "reason": JSON(reason),
        ]
    }
}

extension OutboxCounts {
    /// The members that `status` and `outbox stats` show.
    var json: JSONObject {
        [
            "accepted": JSON(accepted), "confirmed": JSON(confirmed), "refused": JSON(refused),
            "evicted": JSON(evicted),
            "pending": JSON(pending), "doubt": JSON(doubt),
        ]
    }
}

extension [Int64]? {
    fileprivate func retry(in store: OutboxStore) async throws -> Int {
        if let ids = self { return try await store.retry(ids) }
        return try await store.retryAll()
    }
}
