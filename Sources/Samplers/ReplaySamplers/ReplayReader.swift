// Thread rule: files are read on the reader's own executor, since a disk, a network share or a pipe may make it wait.
internal import Diagnostics
internal import Samples

/// Reads a file's rows off Swift's pool.
actor ReplayReader {
    private nonisolated let executor = BlockingExecutor(label: "feedbridge.replay")
    private var rows: RowReader?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens the file and reads the first few rows.
    func open(_ path: String, layout: Layout, fields: [Field]) throws -> ReplayChunk {
        rows = try RowReader(path, layout: layout, fields: fields)
        return try next(16)
    }

    /// The next rows; an empty last chunk when nothing is open.
    func next(_ most: Int) throws -> ReplayChunk {
        guard let chunk = try rows?.next(most) else { return ReplayChunk(isLast: true) }
        if chunk.isLast { rows = nil }
        return chunk
    }

    /// Closes the file.
    func close() { rows = nil }
}
