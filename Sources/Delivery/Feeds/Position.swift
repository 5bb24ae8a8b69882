internal import DataPoints
internal import Diagnostics
internal import Samples

/// Where a stream keeps a position.
struct PositionColumns: Sendable {
    let latitude: Int
    let longitude: Int
    let altitude: Int?

    private static let names = (
        lat: Name(mapping: "lat"), lon: Name(mapping: "lon"), altitude: Name(mapping: "altitude")
    )

    /// The columns of `lat`, `lon` and `altitude`; nil when the first two are not there.
    init?(_ stream: Stream) {
        let names = PositionColumns.names
        guard let latitude = stream.index(of: names.lat), let longitude = stream.index(of: names.lon) else {
            return nil
        }
        self.latitude = latitude
        self.longitude = longitude
        altitude = stream.index(of: names.altitude)
    }
}

/// The newest position of a stream.
struct Position: Sendable {
    let location: Location
    let time: Timestamp

    /// The newest usable position of `batch`, if it is newer than `other`.
    init?(newestOf batch: SampleBatch, after other: Position?) {
        guard let columns = PositionColumns(batch.stream) else { return nil }
        var newest: Position?
        for row in 0..<batch.count {
            let time = batch.times[row]
            // A clock that stepped back must not keep an old place for ever, so equal or newer than its own batch wins.
            if let newest, newest.time > time { continue }
            guard let latitude = batch.value(row: row, field: columns.latitude).number, latitude.magnitude <= 90,
                let longitude = batch.value(row: row, field: columns.longitude).number, longitude.magnitude <= 180
            else { continue }
            let elevation = columns.altitude.flatMap { batch.value(row: row, field: $0).number }
            newest = Position(
                location: Location(latitude: latitude, longitude: longitude, elevation: elevation),
                time: time
            )
        }
        guard let newest else { return nil }
        if let other, newest.time < other.time, other.time - newest.time < .seconds(3600) { return nil }
        self = newest
    }

    private init(location: Location, time: Timestamp) {
        self.location = location
        self.time = time
    }
}
