internal import FoundationEssentials
internal import Glibc

/// A folder of its own for one test, removed with everything in it when the value goes away.
public final class TemporaryDirectory: Sendable {
    /// The folder's path.
    public let path: String

    /// Makes a new empty folder, mode 0700, below the machine's folder for temporary files.
    public init() {
        var template = Array("/tmp/feedbridge-test-XXXXXX".utf8CString)
        let made = mkdtemp(&template)
        precondition(made != nil, "cannot make a temporary folder below /tmp")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` in the folder.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes `text` to the file `name` (folders on the way are made) and returns its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let target = file(name)
        if let slash = target.lastIndex(of: "/") {
            try FileManager.default.createDirectory(
                atPath: String(target[..<slash]),
                withIntermediateDirectories: true
            )
        }
        try text.write(toFile: target, atomically: false, encoding: .utf8)
        return target
    }

    /// The text of the file `name`.
    public func read(_ name: String) throws -> String {
        try String(contentsOfFile: file(name), encoding: .utf8)
    }
}
