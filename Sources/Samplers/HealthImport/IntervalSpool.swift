internal import Glibc

/// Intervals in any order in, in the order of their beginnings out, with memory that does not grow: sorted runs lie in a
/// file without a name, and are merged when they are read.
final class IntervalSpool {
    private struct Run {
        var next: Int
        let end: Int
        var page: [Interval] = []
        var place = 0
    }

    private let capacity: Int
    private var memory: [Interval] = []
    private var runs: [Range<Int>] = []
    private var stored = 0
    private let descriptor: Int32

    private static let width = MemoryLayout<Interval>.stride
    private static let pageCount = 2048

    /// Makes a spool that keeps `capacity` intervals in memory, and others in a file in `folder`.
    init(folder: String, capacity: Int = 1 << 17) throws(HealthImportError) {
        self.capacity = capacity
        var path = Array("\(folder)/feedbridge-XXXXXX".utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw .temporaryFile(folder, String(cString: strerror(errno))) }
        // Without a name it is gone when it is closed, however the process ends.
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Takes an interval.
    func append(_ interval: Interval) throws(HealthImportError) {
        memory.append(interval)
        if memory.count >= capacity { try spill() }
    }

    private func sortMemory() {
        // Records lie in the order of time already, or nearly.
        memory.sort { $0.start < $1.start }
    }

    private func spill() throws(HealthImportError) {
        sortMemory()
        try write(memory)
        runs.append(stored..<stored + memory.count)
        stored += memory.count
        memory.removeAll(keepingCapacity: true)
    }

    /// Calls `body` with all intervals in order.
    func readAll(_ body: (Interval) -> Void) throws(HealthImportError) {
        sortMemory()
        var pages = runs.map { Run(next: $0.lowerBound, end: $0.upperBound) }
        for index in pages.indices { try fill(&pages[index]) }
        var place = 0
        while true {
            var best = -1
            var start = Int64.max
            for index in pages.indices where pages[index].place < pages[index].page.count {
                let candidate = pages[index].page[pages[index].place].start
                if candidate < start || best < 0 { (best, start) = (index, candidate) }
            }
            if place < memory.count, best < 0 || memory[place].start < start {
                body(memory[place])
                place += 1
            } else if best >= 0 {
                body(pages[best].page[pages[best].place])
                pages[best].place += 1
                if pages[best].place == pages[best].page.count { try fill(&pages[best]) }
            } else {
                return
            }
        }
    }

    private func fill(_ run: inout Run) throws(HealthImportError) {
        let count = min(Self.pageCount, run.end - run.next)
        run.place = 0
        guard count > 0 else {
            run.page = []
            return
        }
        let offset = run.next * Self.width
        let page = [Interval](unsafeUninitializedCapacity: count) { buffer, filled in
            let got = pread(descriptor, buffer.baseAddress, count * Self.width, offset)
            filled = got == count * Self.width ? count : 0
        }
        guard page.count == count else { throw .temporaryFile("a temporary file", "it cannot be read back") }
        run.page = page
        run.next += count
    }

    private func write(_ intervals: [Interval]) throws(HealthImportError) {
        let failure: Int32 = intervals.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return errno }
                done += count
            }
            return 0
        }
        guard failure == 0 else { throw .temporaryFile("a temporary file", String(cString: strerror(failure))) }
    }
}
