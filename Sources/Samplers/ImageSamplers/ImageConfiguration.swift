/// Which pictures a sampler looks at.
public struct ImageConfiguration: Sendable, Hashable {
    /// A file, or a folder whose newest picture counts.
    public var path: String
    /// How often it is looked at.
    public var every: Duration
    /// What is put behind the stream's name.
    public var suffix: String?

    /// Names a file or a folder.
    public init(path: String, every: Duration = .seconds(2), suffix: String? = nil) {
        self.path = path
        self.every = every
        self.suffix = suffix
    }
}
