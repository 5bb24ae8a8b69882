// Thread rule of zlib: "The functions are safe to use from several threads as long as each stream is used by one thread
// at a time" (zlib FAQ 21). A DecompressingFile is not Sendable, so it stays with its owner. Reading blocks: its owner
// runs on an executor or a thread of its own.
internal import CZlib
internal import Glibc

/// A file read from its start to its end, plain or gzip: its content says which, not its name.
///
/// Several gzip members behind each other are one text, as for `gunzip`.
public final class DecompressingFile {
    /// The file's path.
    public let path: String

    private let handle: gzFile

    /// Opens the file.
    public init(_ path: String) throws(CompressionError) {
        self.path = path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CompressionError(opening: path, errno) }
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        guard kind == S_IFREG || kind == S_IFIFO else {
            close(descriptor)
            throw CompressionError(
                kind: .notAFile,
                path: path,
                description: "\(path) is not a file. Name a file, plain or gzip."
            )
        }
        guard let handle = gzdopen(descriptor, "rb") else {
            close(descriptor)
            throw CompressionError(opening: path, ENOMEM)
        }
        self.handle = handle
        gzbuffer(handle, 65_536)
    }

    deinit { gzclose(handle) }

    /// Reads the next bytes, as many as fit into `memory`; 0 at the end.
    public func read(into memory: UnsafeMutableRawBufferPointer) throws(CompressionError) -> Int {
        guard !memory.isEmpty else { return 0 }
        let count = gzread(handle, memory.baseAddress, UInt32(clamping: min(memory.count, 1 << 30)))
        if count > 0 { return Int(count) }
        let systemCode = errno
        var code: Int32 = Z_OK
        let sentence = gzerror(handle, &code).map { String(cString: $0) } ?? ""
        switch code {
        case Z_OK, Z_STREAM_END:
            return 0
        case Z_BUF_ERROR:
            throw CompressionError(
                kind: .truncated,
                path: path,
                description:
                    "\(path) ends in the middle of its compressed data. Copy it again; what was read before is right."
            )
        case Z_ERRNO:
            throw CompressionError(
                kind: .system(systemCode),
                path: path,
                description: "\(path) cannot be read: \(String(cString: strerror(systemCode)))."
            )
        default:
            throw CompressionError(
                kind: .damaged,
                path: path,
                description: "\(path) has damaged compressed data (\(sentence)). Copy it again."
            )
        }
    }
}

extension CompressionError {
    init(opening path: String, _ code: Int32) {
        switch code {
        case ENOENT, ENOTDIR:
            self.init(
                kind: .notFound,
                path: path,
                description:
                    "\(path) is not there. Check the path; a relative one begins where the program was started."
            )
        case EACCES, EPERM:
            self.init(
                kind: .noPermission,
                path: path,
                description: "\(path) may not be read by user \(getuid()). Give it the right with chmod or chown."
            )
        default:
            self.init(
                kind: .system(code),
                path: path,
                description: "\(path) cannot be opened: \(String(cString: strerror(code)))."
            )
        }
    }
}
