/// The write-ahead log of a database as bytes (https://www.sqlite.org/fileformat2.html, section 4).
///
/// SQLite reads a log up to the first frame whose checksum is wrong, and says nothing of what comes after it. Frames
/// after it that carry the log's salt were committed, and are lost without notice: this finds them.
package struct LogImage: Sendable {
    /// Where the newest frame of each page has its content.
    package private(set) var offsets: [UInt32: Int] = [:]
    /// Whether a frame of this log has a wrong checksum, so that SQLite will stop before its end.
    package private(set) var isBroken = false
    package let pageBytes: Int

    /// Reads the log's frame headers, and with `checking` all of it; nil when there is none.
    ///
    /// With `wholeOnly` a frame whose own checksum is wrong counts as absent: an older state of its page stands in for it.
    package init?(path: String, checking: Bool, wholeOnly: Bool = false) {
        guard let file = ByteFile(path: path), let header = file.read(at: 0, count: 32), header.count == 32 else {
            return nil
        }
        let magic = header.bigEndian(at: 0)
        let size = Int(header.bigEndian(at: 8))
        let isWhole = magic & ~1 == 0x377f_0682 && size >= 512 && size <= 65536 && size & (size - 1) == 0
        pageBytes = isWhole ? size : 4096
        let salt = isWhole ? header[16..<24] : nil
        let isBigEndian = magic & 1 == 1
        var sum: (UInt32, UInt32) = (0, 0)
        if checking, isWhole {
            sum = Self.sum(header[0..<24], sum, isBigEndian)
            if sum != (header.bigEndian(at: 24), header.bigEndian(at: 28)) { isBroken = true }
        }
        if !isWhole, header.contains(where: { $0 != 0 }) { isBroken = true }
        var offset = 32
        var isAtEnd = false
        while !isAtEnd, let frame = file.read(at: offset, count: 24 + pageBytes), frame.count == 24 + pageBytes {
            // A frame of an earlier turn of the log: SQLite writes from the start again, with another salt.
            if let salt, frame[8..<16] != salt {
                // One flipped bit in a salt is damage when frames of this turn follow.
                isAtEnd = !Self.follows(salt, file, offset + 24 + pageBytes, pageBytes)
                if isAtEnd { break }
                isBroken = true
            }
            var isWhole = true
            if checking {
                sum = Self.sum(frame[0..<8], sum, isBigEndian)
                sum = Self.sum(frame[24...], sum, isBigEndian)
                let told = (frame.bigEndian(at: 16), frame.bigEndian(at: 20))
                isWhole = sum == told
                if !isWhole { isBroken = true }
                // Each sum goes on from the one before: from the one that stands there the next frame is judged alone.
                sum = told
            }
            let page = frame.bigEndian(at: 0)
            if page > 0, isWhole || !wholeOnly { offsets[page] = offset + 24 }
            offset += 24 + pageBytes
        }
    }

    private static func follows(_ salt: ArraySlice<UInt8>, _ file: ByteFile, _ offset: Int, _ pageBytes: Int) -> Bool {
        guard let header = file.read(at: offset, count: 24), header.count == 24 else { return false }
        return header[8..<16] == salt
    }

    /// "Checksum Algorithm", section 4.2 of the file format.
    private static func sum(_ bytes: ArraySlice<UInt8>, _ start: (UInt32, UInt32), _ isBigEndian: Bool) -> (
        UInt32, UInt32
    ) {
        var (first, second) = start
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset + 8 <= buffer.count {
                let one = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let two = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first = first &+ (isBigEndian ? UInt32(bigEndian: one) : UInt32(littleEndian: one)) &+ second
                second = second &+ (isBigEndian ? UInt32(bigEndian: two) : UInt32(littleEndian: two)) &+ first
                offset += 8
            }
        }
        return (first, second)
    }
}
