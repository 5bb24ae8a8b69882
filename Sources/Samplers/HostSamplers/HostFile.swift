// Thread rule: a HostFile and the ReadBuffer belong to one HostReader, which reads on its own executor only.
internal import Glibc

/// Why a file of the kernel gave nothing.
enum HostFailure: Error, Equatable {
    /// It is not there, or no longer.
    case gone
    /// We may not read it.
    case noPermission
    /// The kernel has no value just now (`EAGAIN`, `ENODATA`).
    case nothing
    /// Another error, by its `errno`.
    case other(Int32)

    init(_ code: Int32) {
        self =
            switch code {
            case ENOENT, ENODEV, ENXIO, ENOTDIR, ESTALE: .gone
            case EACCES, EPERM: .noPermission
            case EAGAIN, ENODATA, EBUSY, EINTR: .nothing
            default: .other(code)
            }
    }
}

/// Memory that all files of one reader are read into, one after the other.
final class ReadBuffer {
    private(set) var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)

    deinit { memory.deallocate() }

    /// Doubles the room and keeps what is there.
    func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: memory.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(memory))
        memory.deallocate()
        memory = larger
    }
}

/// A file of `/proc` or `/sys` that is read again and again through one open descriptor.
///
/// Reading at offset 0 makes the kernel write the text anew, so a pass costs one call a file.
final class HostFile {
    /// Where it is.
    let path: String
    /// Whether the kernel hands it out in pieces (`net/dev`, `diskstats`), so that reading goes on until nothing comes.
    private let isLong: Bool
    private var descriptor: Int32 = -1

    init(_ path: String, isLong: Bool = false) {
        self.path = path
        self.isLong = isLong
    }

    deinit { close() }

    /// Reads the whole text into `buffer`; it is valid until the next read into that buffer, which the caller keeps alive.
    func read(into buffer: ReadBuffer) throws(HostFailure) -> Text {
        if descriptor < 0 {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw HostFailure(errno) }
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
                throw HostFailure(code)
            }
            length += count
            if count == 0 || (!isLong && count < rest) { break }
        }
        guard length > 0 else {
            // The kernel never has an empty text for us: the device behind it went away.
            close()
            throw .gone
        }
        return Text(UnsafeRawBufferPointer(rebasing: buffer.memory[..<length]))
    }

    /// Reads the whole text once, with memory of its own; nil when it cannot be read.
    func readOnce<Result>(_ body: (inout Text) -> Result) -> Result? {
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
    static func line(_ path: String) -> String? {
        HostFile(path).readOnce { $0.restOfLine() }
    }

    /// The names in a folder, in no order; empty when there is no such folder.
    static func names(in folder: String) -> [String] {
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
    static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// Whether something is there.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
