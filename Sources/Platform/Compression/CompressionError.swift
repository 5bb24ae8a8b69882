/// Why a file could not be read, plain or compressed.
public struct CompressionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Kind: Sendable, Equatable {
        /// There is no such file.
        case notFound
        /// We may not read it.
        case noPermission
        /// It is a folder or a device.
        case notAFile
        /// It ends in the middle of compressed data.
        case truncated
        /// Its compressed data is wrong.
        case damaged
        /// It unfolds to more than was allowed.
        case tooLarge
        /// The system's error, by its `errno`.
        case system(Int32)
    }

    /// What kind of trouble it is.
    public let kind: Kind
    /// The file.
    public let path: String
    /// What failed, why, and what to do.
    public let description: String
}
