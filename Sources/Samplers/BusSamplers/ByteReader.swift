/// Reads little-endian numbers from bytes that came over the air; nil where they end.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: some Collection<UInt8>) {
        self.bytes = Array(bytes)
    }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Two bytes.
    mutating func word() -> Int? { unsigned(2).map { Int($0) } }

    /// An unsigned number of 1 to 8 bytes.
    mutating func unsigned(_ count: Int) -> UInt64? {
        guard bytes.count - position >= count else { return nil }
        var number: UInt64 = 0
        for place in (0..<count).reversed() { number = number << 8 | UInt64(bytes[position + place]) }
        position += count
        return number
    }

    /// A signed number of 1 to 8 bytes.
    mutating func signed(_ count: Int) -> Int64? {
        guard let number = unsigned(count) else { return nil }
        let unused = 64 - 8 * count
        return Int64(bitPattern: number << UInt64(unused)) >> Int64(unused)
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, bytes.count - position >= count else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }
}
