internal import DataPoints
internal import SQLite

/// Reads points out of a page. Whatever it finds is a point only if its sum is right, so no damage passes for one.
struct LeafPage {
    let bytes: [UInt8]
    /// Reads a page by its number: a long value goes on there.
    let overflow: (UInt32) -> [UInt8]?

    /// The points, when the page is a leaf of a table with points.
    func points() -> [PointRow] {
        // Page 1 never holds points.
        guard let page = StoredPage(bytes, number: 2), page.kind == .tableLeaf else { return [] }
        return page.rows(overflow: overflow).compactMap { Self.point($0) }
    }

    /// A row of `points` or `dead`: the id stands beside the record, its column is null.
    private static func point(_ stored: StoredPage.Row) -> PointRow? {
        let values = stored.values
        guard values.count == 14, values[0] == .null,
            let state = values[2].integer.flatMap({ PointState(code: Int(truncatingIfNeeded: $0)) }),
            let attempts = values[3].integer, let created = values[4].integer, let boot = values[5].integer,
            let bootTime = values[6].integer, let priority = values[7].integer.flatMap({ UInt8(exactly: $0) }),
            let sum = values[8].integer, let feed = values[9].text.flatMap(FeedKey.init), let value = values[10].text
        else { return nil }
        var location: Location?
        // SQLite stores a whole number of a REAL column as an integer; `real` gives both.
        if let latitude = values[11].real, let longitude = values[12].real {
            location = Location(latitude: latitude, longitude: longitude, elevation: values[13].real)
        }
        var row = PointRow(
            id: stored.id,
            state: state,
            createdAt: created,
            boot: boot,
            bootTime: bootTime,
            priority: priority,
            feed: feed,
            value: value,
            location: location
        )
        row.attempts = attempts
        return row.sum == sum ? row : nil
    }
}
