public import Diagnostics

/// Decides which streams and fields that a source names itself may come to be: names from outside are limited.
///
/// A value; the caller tells the time. A stream that is in stays in.
public struct StreamAdmission: Sendable {
    /// The most streams of one source.
    public static let mostStreams = 256
    /// The most fields of one stream.
    public static let mostFields = 64
    /// The most new streams within an hour.
    public static let mostNewStreams = 16

    /// Why a stream may not come to be.
    public enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The source has as many streams as one may have.
        case tooMany
        /// The source has named too many new streams within the hour.
        case tooManyNew
        /// The name is that of another source's stream.
        case taken(Name)

        /// One sentence for a person.
        public var description: String {
            switch self {
            case .tooMany: "this source has \(StreamAdmission.mostStreams) streams already, and more are not taken"
            case .tooManyNew: "more than \(StreamAdmission.mostNewStreams) new streams within an hour are not taken"
            case .taken(let name): "\"\(name)\" is another source's stream; send under another name"
            }
        }
    }

    private var streams: [Name: Stream] = [:]
    private var newcomers: [BootInstant] = []
    private let reserved: Set<Name>

    /// Makes an admission with the `known` streams in it; `reserved` names are those of other sources.
    public init(known: [Stream] = [], reserved: Set<Name> = []) {
        for stream in known { streams[stream.name] = stream }
        self.reserved = reserved.subtracting(known.map(\.name))
    }

    /// The stream called `name` with at least `fields`, as far as they have room; a field that is there stays as it is.
    public mutating func stream(
        _ name: Name,
        fields: [Field],
        at now: BootInstant
    ) throws(Refusal) -> Stream {
        if let known = streams[name] {
            let new = fields.filter { known.index(of: $0.name) == nil }
            guard !new.isEmpty, known.fields.count < Self.mostFields else { return known }
            let wider = Stream(name, fields: Array((known.fields + Self.unique(new)).prefix(Self.mostFields)))
            streams[name] = wider
            return wider
        }
        guard !reserved.contains(name) else { throw .taken(name) }
        guard streams.count < Self.mostStreams else { throw .tooMany }
        newcomers.removeAll { $0.duration(to: now) >= .seconds(3600) }
        guard newcomers.count < Self.mostNewStreams else { throw .tooManyNew }
        newcomers.append(now)
        let stream = Stream(name, fields: Array(Self.unique(fields).prefix(Self.mostFields)))
        streams[name] = stream
        return stream
    }

    /// The stream called `name`, if it is in.
    public subscript(name: Name) -> Stream? { streams[name] }

    private static func unique(_ fields: [Field]) -> [Field] {
        var names: Set<Name> = []
        return fields.filter { names.insert($0.name).inserted }
    }
}
