internal import Glibc

/// The write-ahead log of a database as bytes (https://www.sqlite.org/fileformat2.html, section 4).
///
/// SQLite reads a log up to the first frame whose checksum is wrong, and says nothing of what comes after it. Frames
/// after it that carry the log's salt were committed, and are lost without notice: this finds them.
struct LogImage {
    /// Where the newest frame of each page has its content, checksums not looked at.
    private(set) var offsets: [UInt32: Int] = [:]
    /// Whether a frame of this log has a wrong checksum, so that SQLite will stop before its end.
    private(set) var isBroken = false
    let pageBytes: Int

    /// Reads the log's frame headers, and with `checking` all of it; nil when there is none.
    init?(path: String, checking: Bool) {
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
            if checking, !isBroken {
                sum = Self.sum(frame[0..<8], sum, isBigEndian)
                sum = Self.sum(frame[24...], sum, isBigEndian)
                if sum != (frame.bigEndian(at: 16), frame.bigEndian(at: 20)) { isBroken = true }
            }
            let page = frame.bigEndian(at: 0)
            if page > 0 { offsets[page] = offset + 24 }
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

/// A file that is read at any place.
final class ByteFile {
    private let descriptor: Int32
    let size: Int

    init?(path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            return nil
        }
        size = Int(status.st_size)
    }

    deinit {
        close(descriptor)
    }

    /// Up to `count` bytes; fewer at the end of the file, nil when the disk cannot read them.
    func read(at offset: Int, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &bytes, count, off_t(offset))
        guard read >= 0 else { return nil }
        bytes.removeLast(count - read)
        return bytes
    }

    /// Copies a file, the copy for its owner alone and on the disk.
    static func copy(_ path: String, to target: String) -> Int32 {
        guard let source = ByteFile(path: path) else { return errno }
        let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { return errno }
        defer { close(output) }
        var offset = 0
        while let part = source.read(at: offset, count: 1 << 16), !part.isEmpty {
            guard write(output, part, part.count) == part.count else { return errno }
            offset += part.count
        }
        return fsync(output) == 0 ? 0 : errno
    }
}

extension [UInt8] {
    /// Four bytes as a number, the most significant first.
    func bigEndian(at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 << 8 | UInt32(self[offset + $1]) }
    }
}
