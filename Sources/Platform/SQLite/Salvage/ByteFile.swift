internal import Glibc

/// A file that is read at any place.
package final class ByteFile: Sendable {
    private let descriptor: Int32
    /// Bytes of the file when it was opened.
    package let size: Int

    package init?(path: String) {
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
    package func read(at offset: Int, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &bytes, count, off_t(offset))
        guard read >= 0 else { return nil }
        bytes.removeLast(count - read)
        return bytes
    }

    /// Copies a file, the copy for its owner alone and on the disk.
    package static func copy(_ path: String, to target: String) -> Int32 {
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
    package func bigEndian(at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 << 8 | UInt32(self[offset + $1]) }
    }
}
