// Thread rule: belongs to one ReplayReader and is used on its executor only.
internal import Compression
internal import Glibc

/// The lines of a file, one by one, in memory that does not grow with the file.
final class LineReader {
    /// A longer line is skipped as broken.
    static let longestLine = 1 << 20

    /// The number of the last line given, counted from 1.
    private(set) var number = 0

    private let file: DecompressingFile
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    private var start = 0
    private var end = 0
    private var isAtEnd = false

    init(_ path: String) throws(CompressionError) {
        file = try DecompressingFile(path)
    }

    deinit { memory.deallocate() }

    /// One line.
    enum Line {
        /// Its bytes without the line end; valid until the next call.
        case text(UnsafeRawBufferPointer)
        /// It was longer than any line may be and was skipped.
        case tooLong
    }

    /// The next line, nil at the end of the file. A last line without a line feed counts too.
    func next() throws(CompressionError) -> Line? {
        var searched = start
        var isTooLong = false
        while true {
            if let base = memory.baseAddress, searched < end,
                let found = memchr(base + searched, 0x0A, end - searched)
            {
                let feed = base.distance(to: UnsafeMutableRawPointer(found))
                return take(upTo: feed, next: feed + 1, isTooLong)
            }
            searched = end
            if isAtEnd {
                guard end > start || isTooLong else { return nil }
                return take(upTo: end, next: end, isTooLong)
            }
            if end - start > LineReader.longestLine {
                isTooLong = true
                (start, end, searched) = (0, 0, 0)
            }
            makeRoom()
            searched = end
            let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[end...]))
            if count == 0 { isAtEnd = true }
            end += count
        }
    }

    private func take(upTo stop: Int, next: Int, _ isTooLong: Bool) -> Line {
        defer { start = next }
        number += 1
        guard !isTooLong else { return .tooLong }
        var (first, last) = (start, stop)
        if last > first, memory[last - 1] == 0x0D { last -= 1 }
        // The mark that some programs put before UTF-8.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if number == 1, last - first >= 3, memory[first..<first + 3].elementsEqual(mark) { first += 3 }
        return .text(UnsafeRawBufferPointer(rebasing: memory[first..<last]))
    }

    private func makeRoom() {
        if start > 0 {
            if end > start, let base = memory.baseAddress { memmove(base, base + start, end - start) }
            end -= start
            start = 0
        }
        guard end == memory.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: memory.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(memory))
        memory.deallocate()
        memory = larger
    }
}
