internal import SQLite

/// The pages of a database that was set aside, each as its log has it newest, else as the file has it.
struct DamagedPages {
    private let file: ByteFile?
    private let log: ByteFile?
    private let image: LogImage?
    private let pageBytes: Int
    /// The pages of the log alone, when nothing else is looked at.
    private let logPages: [UInt32]
    /// How many pages there are to look at.
    let count: Int

    /// Looks at the database at `path` and its log; with `logOnly` at the log alone.
    init(path: String, logOnly: Bool) {
        file = logOnly ? nil : ByteFile(path: path)
        log = ByteFile(path: path + "-wal")
        image = LogImage(path: path + "-wal", checking: false)
        // Files of ours have pages of this size; a header that says something else is part of the damage.
        pageBytes = 4096
        let inFile = ((file?.size ?? 0) + pageBytes - 1) / pageBytes
        // A page number in a damaged log may be anything; a log adds at most as many pages as it has frames.
        logPages = logOnly ? image?.offsets.keys.sorted() ?? [] : []
        count = logOnly ? logPages.count : inFile + (image?.offsets.count ?? 0)
    }

    /// The bytes of the page; nil when there are none.
    func page(_ number: UInt32) -> [UInt8]? {
        if let offset = image?.offsets[number], let page = log?.read(at: offset, count: pageBytes) { return page }
        guard number > 0, let file else { return nil }
        return file.read(at: (Int(number) - 1) * pageBytes, count: pageBytes)
    }

    /// The points on the page at `index`, from 1 to `count`.
    func points(at index: Int) -> [PointRow] {
        let number = logPages.isEmpty ? UInt32(truncatingIfNeeded: index) : logPages[index - 1]
        guard let bytes = page(number) else { return [] }
        return LeafPage(bytes: bytes, overflow: page).points()
    }
}
