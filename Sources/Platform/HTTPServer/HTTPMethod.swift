/// What a request wants done: `GET`, `POST` and so on.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word as it stands in the request line; case matters.
    public let rawValue: String

    /// Makes a method from its word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Reads something.
    public static let get = HTTPMethod(rawValue: "GET")
    /// Reads the headers of something; answered by the route for `GET`.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// Adds something.
    public static let post = HTTPMethod(rawValue: "POST")
    /// Replaces something.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// Changes a part of something.
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// Removes something.
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// Asks what may be done.
    public static let options = HTTPMethod(rawValue: "OPTIONS")

    /// The word.
    public var description: String { rawValue }
}
