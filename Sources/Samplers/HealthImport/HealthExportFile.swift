internal import Compression
internal import Glibc

/// The document of an export, wherever it lies: `export.zip` as the Health app makes it, or `export.xml`, plain or gzip.
///
/// Not Sendable: it stays with its owner. Reading blocks.
public final class HealthExportFile {
    private enum Source {
        case zip(ZipArchive)
        case file(DecompressingFile)
    }

    private let source: Source

    /// Opens the file.
    ///
    /// - Parameter limit: to at most so many bytes it may unfold.
    public init(_ path: String, limit: UInt64 = 64 << 30) throws {
        guard Self.isZip(path) else {
            source = .file(try DecompressingFile(path))
            return
        }
        let archive = try ZipArchive(path)
        guard let member = Self.document(in: archive.members) else { throw HealthImportError.noExportInside(path) }
        try archive.open(member, limit: limit)
        source = .zip(archive)
    }

    /// Reads the next bytes, as many as fit into `memory`; 0 at the end.
    public func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        switch source {
        case .zip(let archive): try archive.read(into: memory)
        case .file(let file): try file.read(into: memory)
        }
    }

    /// The largest XML file that is not the clinical document: its name is in the phone's language.
    private static func document(in members: [ZipArchive.Member]) -> ZipArchive.Member? {
        members.filter {
            $0.name.hasSuffix(".xml") && !$0.name.hasSuffix("_cda.xml") && !$0.name.hasPrefix("__MACOSX/")
        }
        .max { left, right in
            func key(_ member: ZipArchive.Member) -> (Int, UInt64) {
                (member.name.hasSuffix("/export.xml") || member.name == "export.xml" ? 1 : 0, member.bytes)
            }
            return key(left) < key(right)
        }
    }

    private static func isZip(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: 4)
        return Glibc.read(descriptor, &start, 4) == 4 && start == [0x50, 0x4B, 3, 4]
    }
}
