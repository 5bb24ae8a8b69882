public import Diagnostics
internal import FoundationEssentials
internal import Glibc

/// Files that hold an account's key: read when others cannot, made when there is none.
public enum KeyFile {
    /// The key in `file`; when there is no such file, it is made with a random key and mode 0600.
    public static func key(in file: String) throws(SimulatorError) -> Secret {
        var status = stat()
        guard stat(file, &status) == 0 else {
            let code = errno
            guard code == ENOENT else { throw error(file, code) }
            return try make(file)
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .keyFile(file, reason: "others can read or write it", remedy: "Run chmod 600 \(file).")
        }
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
            throw .keyFile(file, reason: "it cannot be read", remedy: "Give another file.")
        }
        let key = text.filter { !$0.isWhitespace }
        guard !key.isEmpty else {
            throw .keyFile(file, reason: "it is empty", remedy: "Remove it, and a key is made.")
        }
        return Secret(key)
    }

    /// A new file in a new folder that only this user can enter, with a random key.
    public static func makeTemporary() throws(SimulatorError) -> (file: String, key: Secret) {
        var parent = "/tmp"
        for name in ["XDG_RUNTIME_DIR", "TMPDIR"] {
            guard let value = getenv(name) else { continue }
            let folder = String(cString: value)
            guard access(folder, W_OK) == 0 else { continue }
            parent = folder
            break
        }
        var template = "\(parent)/adafruit-io-simulator-XXXXXX".utf8CString.map { $0 }
        guard mkdtemp(&template) != nil else { throw error(parent, errno) }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let file = "\(folder)/aio.key"
        return (file, try make(file))
    }

    /// Removes what `makeTemporary` made.
    public static func removeTemporary(_ file: String) {
        unlink(file)
        if let slash = file.lastIndex(of: "/") { rmdir(String(file[..<slash])) }
    }

    private static func make(_ file: String) throws(SimulatorError) -> Secret {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        // The system's generator is `getrandom` on Linux: fit for keys.
        var generator = SystemRandomNumberGenerator()
        let key = "aio_" + String((0..<28).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw error(file, errno) }
        defer { close(descriptor) }
        var text = key + "\n"
        let written = text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
        guard written == text.utf8.count else { throw error(file, errno) }
        return Secret(key)
    }

    private static func error(_ file: String, _ code: Int32) -> SimulatorError {
        .keyFile(file, reason: String(cString: strerror(code)), remedy: "Give another file with --key-file.")
    }
}
