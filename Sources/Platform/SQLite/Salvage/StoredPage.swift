/// One page of a database, read without help from the rest of the file (https://www.sqlite.org/fileformat2.html, sections
/// 1.6 and 2). Whatever its bytes are, it has rows or none, and reading it ends.
package struct StoredPage: Sendable {
    /// What a page of a tree is.
    package enum Kind: UInt8, Sendable {
        case indexInterior = 2
        case tableInterior = 5
        case indexLeaf = 10
        case tableLeaf = 13

        var isInterior: Bool { self == .indexInterior || self == .tableInterior }
        var isTable: Bool { self == .tableInterior || self == .tableLeaf }
    }

    /// A row: its id (0 in an index), and its columns. A column that is the row's id is null.
    package struct Row: Sendable {
        package let id: Int64
        package let values: [SQLiteValue]
    }

    /// What it is.
    package let kind: Kind
    private let bytes: [UInt8]
    /// Page 1 has the file's header first.
    private let start: Int

    /// The page `number` with `bytes`; nil when it is no page of a tree.
    package init?(_ bytes: [UInt8], number: UInt32) {
        start = number == 1 ? 100 : 0
        guard bytes.count >= 512, let kind = Kind(rawValue: bytes[start]) else { return nil }
        self.kind = kind
        self.bytes = bytes
    }

    private var firstPointer: Int { start + (kind.isInterior ? 12 : 8) }

    private var cells: [Int] {
        let count = min(number(at: start + 3), (bytes.count - firstPointer) / 2)
        return (0..<count).map { number(at: firstPointer + 2 * $0) }
    }

    private func number(at offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }

    /// The pages below, in their order.
    package func children() -> [UInt32] {
        guard kind.isInterior else { return [] }
        let left = cells.compactMap { $0 + 4 <= bytes.count ? bytes.bigEndian(at: $0) : nil }
        return left + [bytes.bigEndian(at: start + 8)]
    }

    /// The rows, as far as they can be read; `overflow` reads the page on which a long row goes on.
    package func rows(overflow: (UInt32) -> [UInt8]?) -> [Row] {
        guard kind != .tableInterior else { return [] }
        return cells.compactMap { cell(at: $0, overflow) }
    }

    private func cell(at offset: Int, _ overflow: (UInt32) -> [UInt8]?) -> Row? {
        var place = offset + (kind == .indexInterior ? 4 : 0)
        guard let size = StoredRecord.varint(bytes, &place), size > 0, size < 1 << 24 else { return nil }
        var id: Int64 = 0
        if kind == .tableLeaf {
            guard let found = StoredRecord.varint(bytes, &place) else { return nil }
            id = found
        }
        guard let payload = payload(Int(size), at: place, overflow), let values = StoredRecord.values(payload) else {
            return nil
        }
        return Row(id: id, values: values)
    }

    /// The bytes of a record, those on overflow pages included.
    private func payload(_ size: Int, at place: Int, _ overflow: (UInt32) -> [UInt8]?) -> [UInt8]? {
        let usable = bytes.count
        let most = kind == .tableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23
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
}

/// A record as it stands in a page (section 2 of the file format).
enum StoredRecord {
    /// The columns of a record; nil when it is none.
    static func values(_ record: [UInt8]) -> [SQLiteValue]? {
        var place = 0
        guard let headerSize = varint(record, &place), headerSize >= 1, headerSize <= record.count else { return nil }
        var values: [SQLiteValue] = []
        var data = Int(headerSize)
        while place < headerSize {
            guard let type = varint(record, &place), let value = value(type, record, &data) else { return nil }
            values.append(value)
        }
        return values
    }

    private static func value(_ type: Int64, _ record: [UInt8], _ data: inout Int) -> SQLiteValue? {
        func integer(_ count: Int) -> Int64? {
            guard data + count <= record.count else { return nil }
            defer { data += count }
            var number = Int64(Int8(bitPattern: record[data]))
            for byte in record[data..<data + count].dropFirst() { number = number << 8 | Int64(byte) }
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
            let part = record[data..<data + count]
            guard type % 2 == 1 else { return .blob(Array(part)) }
            return String(validating: part, as: UTF8.self).map { .text($0) } ?? .blob(Array(part))
        default: return nil
        }
    }

    /// A number of one to nine bytes, seven bits each, the last of nine with eight.
    static func varint(_ bytes: [UInt8], _ place: inout Int) -> Int64? {
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
