internal import FastJSON
public import Samples

/// Which members of a JSON document become which fields.
public struct JSONMapping: Sendable, Hashable {
    /// One member and its field.
    public struct Entry: Sendable, Hashable {
        /// Where the value stands: a JSON pointer such as `/BME280/Temperature`, or the key of a member.
        public var pointer: String
        /// The stream, if it is not that of the mapping.
        public var stream: Name?
        /// The field.
        public var field: Name
        /// The unit, where the stream is none of the known ones.
        public var unit: Unit?

        /// Makes an entry.
        public init(_ pointer: String, stream: Name? = nil, field: Name, unit: Unit? = nil) {
            self.pointer = pointer
            self.stream = stream
            self.field = field
            self.unit = unit
        }

        /// Reads `STREAM.FIELD` or `FIELD`; nil when the target has neither form.
        public init?(_ pointer: String, target: String, unit: Unit? = nil) {
            let dot = target.lastIndex(of: ".")
            let stream = dot.map { Name(String(target[..<$0])) }
            guard let field = Name(String(dot.map { target[target.index(after: $0)...] } ?? target[...])),
                stream != .some(nil)
            else { return nil }
            self.init(pointer, stream: stream ?? nil, field: field, unit: unit)
        }
    }

    /// The members that count; empty for all of them.
    public var entries: [Entry]
    /// The stream of the fields that name none; nil for what the address or topic says.
    public var stream: Name?
    /// Where the time stands; nil for the usual members.
    public var time: String?

    /// Makes a mapping.
    public init(entries: [Entry] = [], stream: Name? = nil, time: String? = nil) {
        self.entries = entries
        self.stream = stream
        self.time = time
    }

    /// The streams that are known beforehand: those that are named, with the fields that are.
    func streams(_ naming: StreamNaming) -> [Samples.Stream] {
        var fields: [Name: [Field]] = [:]
        var order: [Name] = []
        for entry in entries {
            guard let name = (entry.stream ?? stream).map({ naming.name($0.text) }) else { continue }
            if fields[name] == nil { order.append(name) }
            fields[name, default: []].append(field(entry, of: name))
        }
        return order.map { name in
            // A known stream comes whole, so that it is the same whoever makes it.
            let all = KnownStreams.fields(of: name).map { $0 + (fields[name] ?? []) } ?? fields[name] ?? []
            var seen: Set<Name> = []
            return Samples.Stream(name, fields: all.filter { seen.insert($0.name).inserted })
        }
    }

    func field(_ entry: Entry, of stream: Name) -> Field {
        let known = KnownStreams.field(entry.field, of: stream)
        guard let unit = entry.unit, known.unit == .none else { return known }
        return Field(entry.field, unit: unit, kind: known.kind)
    }
}

extension JSON {
    /// The value at a JSON pointer (RFC 6901), or of the member with that key when it does not begin with a slash.
    func value(at pointer: String) -> JSON? {
        guard pointer.hasPrefix("/") else { return self[pointer] }
        var value = self
        for part in pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let key = part.split(separator: "~1", omittingEmptySubsequences: false).joined(separator: "/")
                .split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~")
            let next: JSON? =
                switch value {
                case .object: value[key]
                case .array: Int(key).flatMap { value[$0] }
                default: nil
                }
            guard let next else { return nil }
            value = next
        }
        return value
    }
}
