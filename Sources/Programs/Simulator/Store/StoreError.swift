public import SQLite

/// Why the store did not do something.
public enum StoreError: Error, Sendable, CustomStringConvertible {
    /// The plan's number of feeds is reached.
    case feedLimit(Int)
    /// The plan's number of groups is reached.
    case groupLimit(Int)
    /// The plan's number of dashboards is reached.
    case dashboardLimit(Int)
    /// What the service says about a record that it does not take.
    case validation([String])
    /// There is no such record; the word says which kind.
    case notFound(String)
    /// The database failed.
    case database(SQLiteError)

    /// One sentence.
    public var description: String {
        switch self {
        case .feedLimit(let limit): "The plan's limit of \(limit) feeds is reached"
        case .groupLimit(let limit): "The plan's limit of \(limit) groups is reached"
        case .dashboardLimit(let limit): "The plan's limit of \(limit) dashboards is reached"
        case .validation(let sentences): sentences.joined(separator: ", ")
        case .notFound(let kind): "There is no such \(kind)"
        case .database(let error): error.description
        }
    }
}
