internal import DataPoints

/// Reads points out of a page without help from the rest of the file (https://www.sqlite.org/fileformat2.html, sections
/// 1.6 and 2). Whatever it finds is a point only if its sum is right, so no damage passes for one.
struct LeafPage {
    private enum Column {
        case null
        case integer(Int64)
        case real(Double)
        case text(Int, Int)
        case other
    }

    let bytes: [UInt8]
    /// Reads a page by its number: a long value goes on there.
    let overflow: (UInt32) -> [UInt8]?

    /// The points, when the page is a leaf of a table with points.
    func points() -> [PointRow] {
        // 13 is a leaf of a table; page 1 has the file's header first, and never holds points.
        guard bytes.count >= 512, bytes[0] == 13 else { return [] }
        let count = min(number(at: 3, bytes: 2), (bytes.count - 8) / 2)
        return (0..<count).compactMap { cell(at: number(at: 8 + 2 * $0, bytes: 2)) }
    }

    private func number(at offset: Int, bytes count: Int) -> Int {
        (0..<count).reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
    }

    private func cell(at offset: Int) -> PointRow? {
        var place = offset
        guard let size = Self.varint(bytes, &place), let id = Self.varint(bytes, &place), size > 14, size < 1 << 20,
            let payload = payload(Int(size), at: place)
        else { return nil }
        return Self.point(id: id, payload)
    }

    /// The bytes of a record, those on overflow pages included.
    private func payload(_ size: Int, at place: Int) -> [UInt8]? {
        let usable = bytes.count
        let most = usable - 35
        guard size > most else {
            guard place + size <= usable else { return nil }
            return Array(bytes[place..<place + size])
        }
        let least = (usable - 12) * 32 / 255 - 23
        let spilled = least + (size - least) % (usable - 4)
        let local = spilled <= most ? spilled : least
        guard place + local + 4 <= usable else { return nil }
        var whole = Array(bytes[place..<place + local])
        var next = bytes.bigEndian(at: place + local)
        while whole.count < size {
            guard next != 0, let page = overflow(next), page.count == usable else { return nil }
            whole += page[4..<min(usable, 4 + size - whole.count)]
            next = page.bigEndian(at: 0)
        }
        return whole
    }

    /// A record of `points` or `dead`: the id stands in the cell, its column is null.
    private static func point(id: Int64, _ record: [UInt8]) -> PointRow? {
        var place = 0
        guard let headerSize = varint(record, &place), headerSize >= 15, headerSize <= record.count else { return nil }
        var columns: [Column] = []
        var data = Int(headerSize)
        while place < headerSize {
            guard let type = varint(record, &place), let column = column(type, record, &data) else { return nil }
            columns.append(column)
        }
        guard columns.count == 14, case .null = columns[0] else { return nil }
        func integer(_ index: Int) -> Int64? { if case .integer(let number) = columns[index] { number } else { nil } }
        func text(_ index: Int) -> String? {
            guard case .text(let start, let end) = columns[index] else { return nil }
            return String(validating: record[start..<end], as: UTF8.self)
        }
        func real(_ index: Int) -> Double? {
            switch columns[index] {
            case .real(let number): number
            // SQLite stores a whole number of a REAL column as an integer (section 2.1 of the file format's notes).
            case .integer(let number): Double(number)
            default: nil
            }
        }
        guard let state = integer(2).flatMap({ PointState(code: Int(truncatingIfNeeded: $0)) }),
            let attempts = integer(3), let created = integer(4), let boot = integer(5), let bootTime = integer(6),
            let priority = integer(7).flatMap({ UInt8(exactly: $0) }), let sum = integer(8),
            let feed = text(9).flatMap(FeedKey.init), let value = text(10)
        else { return nil }
        var location: Location?
        if let latitude = real(11), let longitude = real(12) {
            location = Location(latitude: latitude, longitude: longitude, elevation: real(13))
        }
        var row = PointRow(
            id: id,
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

    private static func column(_ type: Int64, _ record: [UInt8], _ data: inout Int) -> Column? {
        func integer(_ count: Int) -> Int64? {
            guard data + count <= record.count else { return nil }
            defer { data += count }
            var number = Int64(Int8(bitPattern: record[data]))
            for index in 1..<max(count, 1) where count > 1 { number = number << 8 | Int64(record[data + index]) }
            return number
        }
        switch type {
        case 0: return .null
        case 1, 2, 3, 4: return integer(Int(type)).map { .integer($0) }
        case 5: return integer(6).map { .integer($0) }
        case 6: return integer(8).map { .integer($0) }
        case 7: return integer(8).map { .real(Double(bitPattern: UInt64(bitPattern: $0))) }
        case 8, 9: return .integer(type - 8)
        case 12...:
            let count = Int(clamping: (type - 12) / 2)
            guard count <= record.count - data else { return nil }
            defer { data += count }
            return type % 2 == 1 ? .text(data, data + count) : .other
        default: return nil
        }
    }

    /// A number of one to nine bytes, seven bits each, the last of nine with eight.
    private static func varint(_ bytes: [UInt8], _ place: inout Int) -> Int64? {
        var number: UInt64 = 0
        for index in 0..<9 {
            guard place < bytes.count else { return nil }
            let byte = bytes[place]
            place += 1
            if index == 8 { return Int64(bitPattern: number << 8 | UInt64(byte)) }
            number = number << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return Int64(bitPattern: number) }
        }
        return nil
    }
}
