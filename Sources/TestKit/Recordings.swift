internal import FoundationEssentials
internal import Glibc

/// Recordings that others made, with the values that are right for them. They lie outside the project.
///
/// They are looked for in `$FEEDBRIDGE_RECORDINGS`, else in `../shared/recordings` beside the checkout, else beside the
/// repository that it was cloned from.
public enum Recordings {
    /// A recording that is needed and is not there.
    public struct Missing: Error, Sendable, CustomStringConvertible {
        /// The recording that was asked for.
        public let name: String

        /// What is missing, where it was looked for, and what to do.
        public var description: String {
            "There is no recording \(name) in \(Recordings.searched.joined(separator: " nor in ")). "
                + "Set FEEDBRIDGE_RECORDINGS to the folder of the recordings."
        }
    }

    /// The path of a file or folder such as `iio/adxl355.xml`; throws when it is not there.
    public static func path(_ name: String) throws -> String {
        guard let folder else { throw Missing(name: name) }
        let path = "\(folder)/\(name)"
        guard access(path, R_OK) == 0 else { throw Missing(name: name) }
        return path
    }

    /// The bytes of a recording.
    public static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path(name))))
    }

    /// The text of a recording.
    public static func text(_ name: String) throws -> String {
        String(decoding: try bytes(name), as: UTF8.self)
    }

    /// Whether tests that need recordings are to run: where there are some, and always where `CI` is set.
    ///
    /// For `.enabled(if:)`: so they fail in CI when the recordings are missing, and elsewhere are skipped, which is told.
    public static let isAvailable: Bool = {
        if folder != nil || isCI { return true }
        let text =
            "TESTS SKIPPED: there are no recordings in \(searched.joined(separator: " nor in ")). "
            + "Set FEEDBRIDGE_RECORDINGS to their folder.\n"
        _ = Array(text.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        return false
    }()

    private static var isCI: Bool {
        guard let value = environment("CI") else { return false }
        return value != "false" && value != "0"
    }

    private static let folder: String? = searched.first { access($0, R_OK | X_OK) == 0 }

    /// The setting alone, where it is set: who names a folder does not want another one.
    private static let searched: [String] = {
        if let set = environment("FEEDBRIDGE_RECORDINGS") { return [set] }
        return ["\(checkout)/../shared/recordings"] + (origin.map { ["\($0)/../shared/recordings"] } ?? [])
    }()

    /// The folder that this checkout was cloned from, if it was one of this machine.
    private static let origin: String? = {
        guard let bytes = try? Data(contentsOf: URL(filePath: "\(checkout)/.git/config")) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        let urls = lines.compactMap { line -> String? in
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.drop { $0 == " " || $0 == "\t" } }
            guard parts.count == 2, parts[0].hasPrefix("url"), parts[1].hasPrefix("/") else { return nil }
            return String(parts[1])
        }
        return urls.first
    }()

    /// The folder of the project, links followed.
    private static let checkout: String = {
        var file = #filePath
        if let real = realpath(file, nil) {
            file = String(cString: real)
            free(real)
        }
        return file.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    }()

    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
