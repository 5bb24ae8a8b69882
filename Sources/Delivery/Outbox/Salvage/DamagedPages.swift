/// The pages of a database that was set aside, each as its log has it newest, else as the file has it.
struct DamagedPages {
    private let file: ByteFile?
    private let log: ByteFile?
    private let image: LogImage?
    private let pageBytes: Int
    /// The number of the last page.
    let count: Int

    /// Looks at the database at `path` and its log; with `logOnly` at the log alone.
    init(path: String, logOnly: Bool) {
        file = logOnly ? nil : ByteFile(path: path)
        log = ByteFile(path: path + "-wal")
        image = LogImage(path: path + "-wal", checking: false)
        // Files of ours have pages of this size; a header that says something else is part of the damage.
        pageBytes = 4096
        let inFile = ((file?.size ?? 0) + pageBytes - 1) / pageBytes
        // A page number in a damaged log may be anything.
        let inLog = image?.offsets.keys.filter { $0 < 1 << 24 }.max() ?? 0
        count = max(inFile, Int(inLog))
    }

    /// The bytes of the page; nil when there are none.
    func page(_ number: UInt32) -> [UInt8]? {
        if let offset = image?.offsets[number], let page = log?.read(at: offset, count: pageBytes) { return page }
        guard number > 0, let file else { return nil }
        return file.read(at: (Int(number) - 1) * pageBytes, count: pageBytes)
    }

    /// The points on the page.
    func points(on number: UInt32) -> [PointRow] {
        guard let bytes = page(number) else { return [] }
        return LeafPage(bytes: bytes, overflow: page).points()
    }
}
