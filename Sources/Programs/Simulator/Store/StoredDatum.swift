public import DataPoints
public import Diagnostics
internal import SQLite

/// A data point as it is stored.
public struct StoredDatum: Sendable, Hashable {
    /// 26 characters of Crockford's base 32.
    public let id: String
    /// The value, always text.
    public var value: String
    /// Where it was measured.
    public var location: Location?
    /// The time that it stands for.
    public var createdAt: Timestamp
    /// The order of arrival, over all feeds.
    public let sequence: Int64

    /// Makes a point that the store does not hold.
    init(id: String, value: String, location: Location?, createdAt: Timestamp, sequence: Int64) {
        self.id = id
        self.value = value
        self.location = location
        self.createdAt = createdAt
        self.sequence = sequence
    }

    static let columns = "id, value, lat, lon, ele, created_at, sequence"

    init(_ row: Statement) {
        id = row.text(at: 0) ?? ""
        value = row.text(at: 1) ?? ""
        if !row.isNull(at: 2), !row.isNull(at: 3) {
            location = Location(
                latitude: row.real(at: 2),
                longitude: row.real(at: 3),
                elevation: row.isNull(at: 4) ? nil : row.real(at: 4)
            )
        }
        createdAt = Timestamp(nanoseconds: row.integer(at: 5))
        sequence = row.integer(at: 6)
    }
}

/// Ids of data points: a time in milliseconds and chance, as 26 characters that sort by time.
enum DatumID {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// A new id.
    static func make(at time: Timestamp) -> String {
        var characters = [UInt8](repeating: 0, count: 26)
        var milliseconds = UInt64(max(0, time.nanoseconds / 1_000_000))
        for place in stride(from: 9, through: 0, by: -1) {
            characters[place] = alphabet[Int(milliseconds & 31)]
            milliseconds >>= 5
        }
        var generator = SystemRandomNumberGenerator()
        for place in 10..<26 {
            characters[place] = alphabet[Int(generator.next(upperBound: UInt32(32)))]
        }
        return String(decoding: characters, as: UTF8.self)
    }
}
