import Bridge
import Recorder

/// What was typed, understood.
enum Invocation {
    case run(any Command, configurationFile: String?)
    case print(String)

    init(_ arguments: [String]) throws(UsageError) {
        guard let name = arguments.first else { throw UsageError(message: "a command is missing") }
        if name == "--version" {
            self = .print("feedbridge \(FeedbridgeVersion.text)\n")
            return
        }
        if name == "--help" || name == "-h" || name == "help" {
            self = .print(arguments.dropFirst().first.flatMap { Help.commands[$0] } ?? Help.program)
            return
        }
        guard let help = Help.commands[name] else {
            throw UsageError(message: "there is no command \"\(name)\"")
        }
        let rest = arguments.dropFirst()
        if rest.contains("--help") || rest.contains("-h") {
            self = .print(help)
            return
        }
        var reader = ArgumentReader(rest, command: "feedbridge \(name)")
        let configurationFile = try reader.option("--config")
        let command = try Invocation.command(name, &reader)
        try reader.finish()
        self = .run(command, configurationFile: configurationFile)
    }

    private static func command(_ name: String, _ reader: inout ArgumentReader) throws(UsageError) -> any Command {
        switch name {
        case "run":
            return RunCommand()
        case "init":
            return InitCommand(output: try reader.option("--output"), force: try reader.flag("--force"))
        case "check":
            return CheckCommand(json: try reader.flag("--json"))
        case "status":
            return StatusCommand(json: try reader.flag("--json"))
        case "sensors":
            return SensorsCommand(json: try reader.flag("--json"))
        case "record":
            return try record(&reader)
        case "sessions":
            return try sessions(&reader)
        case "outbox":
            return try outbox(&reader)
        case "query":
            return QueryCommand(
                stream: try reader.required("--stream", "NAME"),
                from: try reader.required("--from", "TIME"),
                to: try reader.required("--to", "TIME"),
                format: try format(&reader, default: .csv, allowed: [.csv, .jsonl])
            )
        case "steps":
            let to = try reader.option("--to")
            let follow = try reader.flag("--follow")
            if to == nil, !follow { throw UsageError(message: "feedbridge steps needs --to TIME or --follow") }
            return StepsCommand(
                from: try reader.required("--from", "TIME"),
                to: to,
                follow: follow,
                stream: try reader.option("--stream") ?? "steps",
                json: try reader.flag("--json")
            )
        case "import":
            return try importHealth(&reader)
        case "replay":
            return try replay(&reader)
        default:
            return try dashboard(&reader)
        }
    }

    private static func importHealth(_ reader: inout ArgumentReader) throws(UsageError) -> any Command {
        let publish = try reader.option("--publish")
        let quantity = try reader.option("--of")
        let priority = try reader.option("--priority")
        let limit = try reader.option("--largest")
        let json = try reader.flag("--json")
        let kind = try reader.word("health FILE")
        guard kind == "health" else {
            throw UsageError(message: "feedbridge import takes health FILE, not \"\(kind)\"")
        }
        var options = ImportCommand.Options(file: try reader.word("an export.zip or export.xml after health"))
        options.publish = publish
        if let quantity { options.quantity = quantity }
        options.priority = priority.map { $0.split(separator: ",").map(String.init) } ?? []
        options.json = json
        if let limit {
            guard let bytes = Quantity.bytes(limit) else {
                throw UsageError(message: "--largest takes a size such as \"100 GB\", not \"\(limit)\"")
            }
            options.limit = UInt64(bytes)
        }
        return ImportCommand(options)
    }

    private static func record(_ reader: inout ArgumentReader) throws(UsageError) -> any Command {
        let action = try reader.word("start, stop, toggle or mark TEXT")
        switch action {
        case "start": return RecordCommand(.start)
        case "stop": return RecordCommand(.stop)
        case "toggle": return RecordCommand(.toggle)
        case "mark": return RecordCommand(.mark(try reader.word("a text after mark")))
        default:
            throw UsageError(message: "feedbridge record takes start, stop, toggle or mark TEXT, not \"\(action)\"")
        }
    }

    private static func sessions(_ reader: inout ArgumentReader) throws(UsageError) -> any Command {
        let json = try reader.flag("--json")
        let yes = try reader.flag("--yes")
        let output = try reader.option("--output")
        let format = try format(&reader, default: nil, allowed: [.csv, .jsonl, .gpx])
        let action = try reader.word("list, show ID, export ID or delete ID")
        switch action {
        case "list":
            return SessionsCommand(.list(json: json))
        case "show":
            return SessionsCommand(.show(id: try id(&reader, "show"), json: json))
        case "delete":
            return SessionsCommand(.delete(id: try id(&reader, "delete"), yes: yes))
        case "export":
            let id = try id(&reader, "export")
            guard let format else {
                throw UsageError(message: "feedbridge sessions export needs --format csv, jsonl or gpx")
            }
            guard let output else { throw UsageError(message: "feedbridge sessions export needs --output DIRECTORY") }
            return SessionsCommand(.export(id: id, format: format, output: output))
        default:
            throw UsageError(
                message: "feedbridge sessions takes list, show ID, export ID or delete ID, not \"\(action)\""
            )
        }
    }

    private static func outbox(_ reader: inout ArgumentReader) throws(UsageError) -> any Command {
        let json = try reader.flag("--json")
        let state = try reader.option("--state")
        let feed = try reader.option("--feed")
        let action = try reader.word("stats, list, export, retry ID|all or drop --feed FEED")
        switch action {
        case "stats": return OutboxCommand(.stats(json: json))
        case "list": return OutboxCommand(.list(state: state, json: json))
        case "export": return OutboxCommand(.export)
        case "retry":
            let word = try reader.word("the ID of a refused point, or all, after retry")
            if word == "all" { return OutboxCommand(.retry(id: nil)) }
            guard let id = Int64(word) else {
                throw UsageError(
                    message: "\"\(word)\" is no ID of a point; feedbridge outbox list --state refused shows them"
                )
            }
            return OutboxCommand(.retry(id: id))
        case "drop":
            guard let feed else { throw UsageError(message: "feedbridge outbox drop needs --feed FEED") }
            return OutboxCommand(.drop(feed: feed))
        default:
            throw UsageError(message: "feedbridge outbox takes stats, list, export, retry or drop, not \"\(action)\"")
        }
    }

    private static func dashboard(_ reader: inout ArgumentReader) throws(UsageError) -> any Command {
        let name = try reader.option("--name")
        let dryRun = try reader.flag("--dry-run")
        let action = try reader.word("create")
        guard action == "create" else {
            throw UsageError(message: "feedbridge dashboard takes create, not \"\(action)\"")
        }
        return DashboardCommand(name: name, dryRun: dryRun)
    }

    private static func id(_ reader: inout ArgumentReader, _ action: String) throws(UsageError) -> Int64 {
        let word = try reader.word("the ID of a session after \(action); feedbridge sessions list shows them")
        guard let id = Int64(word), id > 0 else {
            throw UsageError(message: "\"\(word)\" is no ID of a session; feedbridge sessions list shows them")
        }
        return id
    }

    private static func format(
        _ reader: inout ArgumentReader,
        default value: ExportFormat,
        allowed: [ExportFormat]
    ) throws(UsageError) -> ExportFormat {
        try format(&reader, default: Optional(value), allowed: allowed) ?? value
    }

    private static func format(
        _ reader: inout ArgumentReader,
        default value: ExportFormat?,
        allowed: [ExportFormat]
    ) throws(UsageError) -> ExportFormat? {
        guard let text = try reader.option("--format") else { return value }
        guard let format = ExportFormat(rawValue: text), allowed.contains(format) else {
            let words = allowed.map(\.rawValue).joined(separator: ", ")
            throw UsageError(message: "--format must be one of \(words), not \"\(text)\"")
        }
        return format
    }
}
