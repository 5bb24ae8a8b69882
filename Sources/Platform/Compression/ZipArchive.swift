// Thread rule of minizip: an unzFile has no lock. A ZipArchive is not Sendable, so it stays with its owner. Reading
// blocks: its owner runs on an executor or a thread of its own.
internal import CMiniZip
internal import Glibc

/// A zip file, read one member at a time; also larger than 4 GB.
///
/// A zip can unfold to a million times its size, so a member is opened with a limit.
public final class ZipArchive {
    /// A file in the zip.
    public struct Member: Sendable, Hashable {
        /// Its path in the zip, as it stands there: never use it as a path on the disk.
        public let name: String
        /// Its size when it is unfolded, as the zip says.
        public let bytes: UInt64
    }

    /// The zip's path.
    public let path: String
    /// What is in it, in its order.
    public let members: [Member]

    private let file: unzFile
    private var isOpen = false
    private var left: UInt64 = 0

    /// At most so many members are looked at.
    private static let mostMembers = 10_000

    /// Opens the zip and reads its directory.
    public init(_ path: String) throws(CompressionError) {
        self.path = path
        // Its own sentence for what minizip does not tell apart.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CompressionError(opening: path, errno) }
        close(descriptor)
        guard let file = unzOpen64(path) else { throw Self.damaged(path) }
        self.file = file
        var members: [Member] = []
        var status = unzGoToFirstFile(file)
        while status == UNZ_OK, members.count < Self.mostMembers {
            var info = unz_file_info64()
            var name = [CChar](repeating: 0, count: 1024)
            status = unzGetCurrentFileInfo64(file, &info, &name, UInt(name.count - 1), nil, 0, nil, 0)
            guard status == UNZ_OK else { break }
            let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            members.append(Member(name: String(decoding: bytes, as: UTF8.self), bytes: UInt64(info.uncompressed_size)))
            status = unzGoToNextFile(file)
        }
        self.members = members
        guard status == UNZ_END_OF_LIST_OF_FILE || status == UNZ_OK else {
            unzClose(file)
            throw Self.damaged(path)
        }
    }

    deinit {
        if isOpen { unzCloseCurrentFile(file) }
        unzClose(file)
    }

    /// Begins to read a member; `read` then gives its bytes, at most `limit` of them.
    public func open(_ member: Member, limit: UInt64) throws(CompressionError) {
        guard member.bytes <= limit else { throw tooLarge(limit) }
        if isOpen { unzCloseCurrentFile(file) }
        isOpen = false
        guard let place = members.firstIndex(of: member), unzGoToFirstFile(file) == UNZ_OK else {
            throw Self.damaged(path)
        }
        for _ in 0..<place where unzGoToNextFile(file) != UNZ_OK { throw Self.damaged(path) }
        guard unzOpenCurrentFile(file) == UNZ_OK else { throw Self.damaged(path) }
        isOpen = true
        // What the directory says may be wrong: counted, too.
        left = limit
    }

    /// Reads the next bytes of the open member, as many as fit into `memory`; 0 at the end.
    public func read(into memory: UnsafeMutableRawBufferPointer) throws(CompressionError) -> Int {
        guard !memory.isEmpty, isOpen else { return 0 }
        let count = unzReadCurrentFile(file, memory.baseAddress, UInt32(clamping: min(memory.count, 1 << 30)))
        guard count >= 0 else { throw Self.damaged(path) }
        guard UInt64(count) <= left else { throw tooLarge(left) }
        left -= UInt64(count)
        if count == 0 {
            isOpen = false
            // The checksum over all of it.
            guard unzCloseCurrentFile(file) == UNZ_OK else { throw Self.damaged(path) }
        }
        return Int(count)
    }

    private func tooLarge(_ limit: UInt64) -> CompressionError {
        CompressionError(
            kind: .tooLarge,
            path: path,
            description: "\(path) unfolds to more than the \(limit) bytes that are allowed."
        )
    }

    private static func damaged(_ path: String) -> CompressionError {
        CompressionError(
            kind: .damaged,
            path: path,
            description: "\(path) is no zip file, or a damaged one. Copy it again."
        )
    }
}
