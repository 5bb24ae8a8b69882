internal import Diagnostics
internal import Glibc

/// A picture as it is now: another content is another picture.
struct Picture: Hashable {
    let path: String
    let changed: Timestamp
    let size: Int
}

/// Finds the picture that counts: a file, or the newest of a folder.
struct PictureFinder {
    private let path: String
    private var folderChanged: Timestamp?
    private var newest: Picture?

    init(_ path: String) {
        self.path = path
    }

    /// What counts now; nil when a folder has no picture; throws the `errno` when nothing is there.
    mutating func find() throws(PictureFailure) -> Picture? {
        let (status, isAFolder) = try PictureFinder.look(at: path)
        guard isAFolder else { return Picture(path: path, changed: status.changed, size: status.size) }
        // A folder changes with every name in it; what was written since under the same name is seen at the file.
        if let old = newest, folderChanged == status.changed,
            let (now, isFolder) = try? PictureFinder.look(at: old.path), !isFolder
        {
            newest = Picture(path: old.path, changed: now.changed, size: now.size)
            return newest
        }
        folderChanged = status.changed
        newest = try PictureFinder.newest(in: path)
        return newest
    }

    private static func newest(in folder: String) throws(PictureFailure) -> Picture? {
        guard let handle = opendir(folder) else { throw PictureFailure(code: errno) }
        defer { closedir(handle) }
        var newest: Picture?
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let lower = name.lowercased()
            guard !name.hasPrefix("."), lower.hasSuffix(".jpg") || lower.hasSuffix(".jpeg") else { continue }
            let path = "\(folder)/\(name)"
            guard let (status, isFolder) = try? look(at: path), !isFolder else { continue }
            let picture = Picture(path: path, changed: status.changed, size: status.size)
            if newest.map({ ($0.changed, $0.path) < (picture.changed, picture.path) }) ?? true { newest = picture }
        }
        return newest
    }

    private static func look(
        at path: String
    ) throws(PictureFailure) -> ((changed: Timestamp, size: Int), isFolder: Bool) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw PictureFailure(code: errno) }
        let time = status.st_mtim
        let nanoseconds = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        return ((Timestamp(nanoseconds: nanoseconds), Int(status.st_size)), status.st_mode & S_IFMT == S_IFDIR)
    }
}

/// Why a file or a folder cannot be looked at, by its `errno`.
struct PictureFailure: Error {
    let code: Int32
}
