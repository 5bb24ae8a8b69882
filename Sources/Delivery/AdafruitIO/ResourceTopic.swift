/// How a value is written in a payload.
public enum PayloadForm: String, Sendable, CaseIterable {
    /// No suffix: the bare value of a feed, JSON for a group; JSON is understood in both directions.
    case plain
    /// `/json`.
    case json
    /// `/csv`: `value,lat,lon,ele`, or `key,value` lines for a group.
    case csv
}

/// What names a feed or a group in a topic.
public struct ResourceTopic: Sendable, Hashable {
    /// The account's name.
    public var user: String
    /// The key or the name as written: `temperature`, `Test Mode`, `weather.humidity`.
    public var identifier: String
    /// The form of the payload.
    public var form: PayloadForm
    /// Whether this asks for the last value to be sent again (`/get`).
    public var isGet: Bool
    /// Whether the short spelling (`f`, `g`) is used.
    public var isShort: Bool

    /// Makes the parts of a topic.
    public init(user: String, identifier: String, form: PayloadForm = .plain, isGet: Bool = false, isShort: Bool = true)
    {
        self.user = user
        self.identifier = identifier
        self.form = form
        self.isGet = isGet
        self.isShort = isShort
    }

    func text(kind: String) -> String {
        var text = "\(user)/\(kind)/\(identifier)"
        if form != .plain { text += "/\(form.rawValue)" }
        if isGet { text += "/get" }
        return text
    }

    /// What follows the identifier.
    struct Ending {
        var form = PayloadForm.plain
        var isGet = false

        init?(_ levels: ArraySlice<String>) {
            switch Array(levels) {
            case []: break
            case ["json"]: form = .json
            case ["csv"]: form = .csv
            case ["get"]: isGet = true
            case ["json", "get"]: (form, isGet) = (.json, true)
            case ["csv", "get"]: (form, isGet) = (.csv, true)
            default: return nil
            }
        }
    }
}
