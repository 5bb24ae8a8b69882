// Thread rule: a KernelFile and the ReadBuffer belong to one reader, which reads on one executor or thread only.
internal import Glibc

/// A file of `/proc` or `/sys` that is read again and again through one open descriptor.
///
/// Reading at offset 0 makes the kernel write the text anew, so a pass costs one call a file.
public final class KernelFile {
    /// Where it is.
    public let path: String
    /// Whether the kernel hands it out in pieces (`net/dev`, `diskstats`), so that reading goes on until nothing comes.
    private let isLong: Bool
    private var descriptor: Int32 = -1

    /// Names a file; it is opened when it is read first.
    public init(_ path: String, isLong: Bool = false) {
        self.path = path
        self.isLong = isLong
    }

    deinit { close() }

    /// Reads the whole text into `buffer`; it is valid until the next read into that buffer, which the caller keeps alive.
    public func read(into buffer: ReadBuffer) throws(KernelFailure) -> KernelText {
        if descriptor < 0 {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw KernelFailure(errno) }
        }
        var length = 0
        while true {
            if length == buffer.memory.count { buffer.grow() }
            let rest = buffer.memory.count - length
            let count = pread(descriptor, buffer.memory.baseAddress?.advanced(by: length), rest, off_t(length))
            if count < 0 {
                let code = errno
                if code == EINTR { continue }
                close()
                throw KernelFailure(code)
            }
            length += count
            if count == 0 || (!isLong && count < rest) { break }
        }
        guard length > 0 else {
            // The kernel never has an empty text for us: the device behind it went away.
            close()
            throw .gone
        }
        return KernelText(UnsafeRawBufferPointer(rebasing: buffer.memory[..<length]))
    }

    /// Reads the whole text once, with memory of its own; nil when it cannot be read.
    public func readOnce<Result>(_ body: (inout KernelText) -> Result) -> Result? {
        let buffer = ReadBuffer()
        return withExtendedLifetime(buffer) {
            guard var text = try? read(into: buffer) else { return nil }
            return body(&text)
        }
    }

    private func close() {
        guard descriptor >= 0 else { return }
        _ = Glibc.close(descriptor)
        descriptor = -1
    }

    /// The first line of a small file, or nil when it cannot be read.
    public static func line(_ path: String) -> String? {
        KernelFile(path).readOnce { $0.restOfLine() }
    }

    /// The first line of a small file, or why it cannot be read.
    public static func firstLine(_ path: String) throws(KernelFailure) -> String {
        let buffer = ReadBuffer()
        defer { withExtendedLifetime(buffer) {} }
        var text = try KernelFile(path).read(into: buffer)
        return text.restOfLine()
    }

    /// Writes a setting: the whole text in one call, as the kernel wants it.
    public static func write(_ text: String, to path: String) throws(KernelFailure) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC)
        guard descriptor >= 0 else { throw KernelFailure(errno) }
        defer { _ = Glibc.close(descriptor) }
        let bytes = Array(text.utf8)
        while Glibc.write(descriptor, bytes, bytes.count) < 0 {
            let code = errno
            guard code == EINTR else { throw KernelFailure(code) }
        }
    }

    /// The names in a folder, in no order; empty when there is no such folder.
    public static func names(in folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The path with all symbolic links followed; nil when there is none.
    public static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// Whether something is there.
    public static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
