internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import Outbox

/// Puts points into the outbox from outside the running bridge: through it, since it owns the file, else by ourselves.
struct OutboxDoor {
    private let directory: StateDirectory
    private let log: Log

    init(_ directory: StateDirectory, _ log: Log) {
        self.directory = directory
        self.log = log
    }

    /// Returns when the points are on the disk.
    func add(_ points: [DataPoint]) async throws {
        guard !points.isEmpty else { return }
        do {
            let list = points.map { point -> JSON in
                [
                    "feed": .string(point.feed.text), "value": .string(point.value),
                    "created_at": .string(point.createdAt.iso8601(fractionDigits: 9)),
                ]
            }
            _ = try await LocalClient(directory).call("POST", "/outbox", ["action": "add", "points": .array(list)])
        } catch is LocalClient.NotRunning {
            let store = try await OutboxStore.open(folder: directory.path, log: log)
            try await store.durably(points)
            try await store.close()
        }
    }

    /// The points of a request's body; nil when it has another form.
    static func points(_ body: JSON) -> [DataPoint]? {
        guard let list = body["points"]?.array else { return nil }
        var points: [DataPoint] = []
        for entry in list {
            guard let feed = entry["feed"]?.string.flatMap(FeedKey.init), let value = entry["value"]?.string,
                let time = entry["created_at"]?.string.flatMap({ Timestamp(iso8601: $0) })
            else { return nil }
            points.append(DataPoint(feed: feed, value: value, createdAt: time))
        }
        return points
    }
}
