/// A database that SQLite may not take for one any more, as its file and its log have it newest, page by page.
///
/// It looks at the bytes alone, and what it finds is what undamaged pages hold. Which table a page belongs to is found
/// from the table's root, and where the way there is damaged, from the pointer map (section 1.8 of the file format), which
/// files with incremental vacuum have.
package final class DatabaseImage: Sendable {
    private let file: ByteFile?
    private let log: ByteFile?
    private let image: LogImage?
    /// Bytes of a page: files of ours have pages of this size; a header that says something else is part of the damage.
    package let pageBytes = 4096
    /// The number of the last page.
    package let count: Int

    /// Reads the database at `path` and its log; nil when there is neither.
    package init?(path: String) {
        file = ByteFile(path: path)
        log = ByteFile(path: path + "-wal")
        image = LogImage(path: path + "-wal", checking: true, wholeOnly: true)
        guard file != nil || log != nil else { return nil }
        let inFile = ((file?.size ?? 0) + pageBytes - 1) / pageBytes
        // A page number in a damaged log may be anything; a log adds at most as many pages as it has frames.
        let most = inFile + (image?.offsets.count ?? 0)
        count = image?.offsets.keys.map { Int($0) }.filter { $0 <= most }.max().map { max($0, inFile) } ?? inFile
    }

    /// The pages that the log has.
    package var pagesInLog: [UInt32] { image?.offsets.keys.filter { $0 <= count }.sorted() ?? [] }

    /// The bytes of a page; nil when there are none.
    package func bytes(of number: UInt32) -> [UInt8]? {
        if let offset = image?.offsets[number], let page = log?.read(at: offset, count: pageBytes) { return page }
        guard number > 0, let file else { return nil }
        return file.read(at: (Int(number) - 1) * pageBytes, count: pageBytes)
    }

    /// A page of a tree; nil when it is none.
    package func page(_ number: UInt32) -> StoredPage? {
        bytes(of: number).flatMap { StoredPage($0, number: number) }
    }

    /// The rows of a page of a tree.
    package func rows(of number: UInt32) -> [StoredPage.Row] {
        page(number)?.rows(overflow: bytes) ?? []
    }

    /// The pages of the tree at `root` that can be reached, in the order of their rows.
    package func tree(_ root: UInt32) -> [UInt32] {
        var seen: Set<UInt32> = []
        var found: [UInt32] = []
        var open = [root]
        while let number = open.popLast() {
            guard number > 0, number <= count, seen.insert(number).inserted, let page = page(number) else { continue }
            found.append(number)
            open.append(contentsOf: page.children().reversed())
        }
        return found
    }

    /// The rows of the tree at `root` that can be reached.
    package func rows(ofTree root: UInt32) -> [StoredPage.Row] {
        tree(root).flatMap { rows(of: $0) }
    }

    /// The roots of the tables by their names.
    ///
    /// Where the first page does not tell them, they come from any row that looks as those of the schema do: a database
    /// that keeps a copy of its schema in a table can be read without its first page.
    package func tables() -> [String: UInt32] {
        var tables = Self.tables(rows(ofTree: 1))
        guard tables.isEmpty else { return tables }
        for number in 1...UInt32(clamping: max(count, 1)) where page(number)?.kind == .tableLeaf && !isFree(number) {
            tables.merge(Self.tables(rows(of: number))) { first, _ in first }
        }
        return tables
    }

    private static func tables(_ rows: [StoredPage.Row]) -> [String: UInt32] {
        var tables: [String: UInt32] = [:]
        for row in rows where row.values.count == 5 && row.values[0].text == "table" {
            guard let name = row.values[1].text, let root = row.values[3].integer.flatMap({ UInt32(exactly: $0) })
            else { continue }
            tables[name] = root
        }
        return tables
    }

    /// Which of `roots` each page belongs to, by the page's number: the place in `roots` and one more, or 0.
    package func owners(of roots: [UInt32]) -> [UInt16] {
        var owners = [UInt16](repeating: 0, count: count + 1)
        for (place, root) in roots.enumerated().prefix(Int(UInt16.max) - 1) {
            var open = [root]
            while let number = open.popLast() {
                guard number > 0, number <= count, owners[Int(number)] == 0, let page = page(number) else { continue }
                owners[Int(number)] = UInt16(place + 1)
                open.append(contentsOf: page.children())
            }
        }
        for number in 1..<max(count + 1, 2) where number <= count && owners[number] == 0 {
            guard page(UInt32(number))?.kind == .tableLeaf else { continue }
            owners[number] = climb(from: UInt32(number), owners, roots)
        }
        return owners
    }

    /// Goes up by the pointer map until an owner is known.
    private func climb(from number: UInt32, _ owners: [UInt16], _ roots: [UInt32]) -> UInt16 {
        var number = number
        // A tree of more levels holds more than any disk.
        for _ in 0..<20 {
            guard let parent = parent(of: number), parent > 0, parent <= count else { return 0 }
            if Int(parent) < owners.count, owners[Int(parent)] != 0 { return owners[Int(parent)] }
            if let place = roots.firstIndex(of: parent), place < Int(UInt16.max) { return UInt16(place + 1) }
            number = parent
        }
        return 0
    }

    /// Whether the page is one that holds nothing any more, whatever its bytes are.
    package func isFree(_ number: UInt32) -> Bool { mapEntry(of: number)?.kind == 2 }

    /// The owner of one page among `roots`, found from the pointer map alone: its place, and nil when there is none.
    package func owner(of number: UInt32, among roots: [UInt32]) -> Int? {
        if let place = roots.firstIndex(of: number) { return place }
        let owner = climb(from: number, [], roots)
        return owner == 0 ? nil : Int(owner) - 1
    }

    /// The page above a page of a tree that is no root.
    private func parent(of number: UInt32) -> UInt32? {
        // 5: "a B-tree page other than a root".
        guard let entry = mapEntry(of: number), entry.kind == 5 else { return nil }
        return entry.parent
    }

    private func mapEntry(of number: UInt32) -> (kind: UInt8, parent: UInt32)? {
        guard number > 2 else { return nil }
        let reach = UInt32(pageBytes / 5 + 1)
        let map = (number - 2) / reach * reach + 2
        guard number > map, let bytes = bytes(of: map), bytes.count == pageBytes else { return nil }
        let offset = 5 * Int(number - map - 1)
        guard offset + 5 <= bytes.count else { return nil }
        return (bytes[offset], bytes.bigEndian(at: offset + 1))
    }
}
