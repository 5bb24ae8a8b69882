internal import Glibc

/// Where the bytes of an export go.
protocol ByteOutput {
    /// Writes all the bytes, or throws.
    func write(_ bytes: [UInt8]) throws(RecorderError)
}

/// A descriptor of somebody else's, such as stdout.
struct DescriptorOutput: ByteOutput {
    let descriptor: Int32
    let name: String

    func write(_ bytes: [UInt8]) throws(RecorderError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count > 0 {
                done += count
            } else if errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            } else if errno != EINTR {
                throw .file(action: "write to", path: name, code: errno)
            }
        }
    }
}

/// A file that appears under its name only when it is whole and on the disk; otherwise nothing stays of it.
final class OutputFile: ByteOutput {
    let path: String
    private let temporary: String
    private let output: DescriptorOutput
    private var isKept = false

    /// Begins a file in a folder that exists.
    init(folder: String, name: String) throws(RecorderError) {
        path = "\(folder)/\(name)"
        temporary = "\(folder)/.\(name).\(getpid()).partial"
        unlink(temporary)
        // Readable for the user alone: recordings hold positions and health.
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(action: "write", path: temporary, code: errno) }
        output = DescriptorOutput(descriptor: descriptor, name: path)
    }

    deinit {
        close(output.descriptor)
        if !isKept { unlink(temporary) }
    }

    func write(_ bytes: [UInt8]) throws(RecorderError) {
        try output.write(bytes)
    }

    /// Puts the file under its name.
    func keep() throws(RecorderError) {
        guard fsync(output.descriptor) == 0 else { throw .file(action: "write", path: path, code: errno) }
        guard rename(temporary, path) == 0 else { throw .file(action: "write", path: path, code: errno) }
        isKept = true
    }

    /// Makes a folder with those above it, and syncs names in it.
    static func makeFolder(_ path: String) throws(RecorderError) {
        var made = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            made += "/\(part)"
            guard mkdir(made, 0o700) == 0 || errno == EEXIST else {
                throw .file(action: "make the folder", path: path, code: errno)
            }
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .file(action: "write into", path: path, code: ENOTDIR)
        }
    }

    /// Makes the names in a folder survive a power cut.
    static func syncFolder(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
