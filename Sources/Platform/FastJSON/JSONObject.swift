/// The members of a JSON object, in their order. Objects here are small, so looking up is a walk.
public struct JSONObject: Sendable, Hashable {
    private var members: [Member]

    private struct Member: Sendable, Hashable {
        var key: String
        var value: JSON
    }

    /// An object of these members; of two with one key the later one counts, at the place of the first.
    public init(_ members: some Sequence<(String, JSON)> = []) {
        self.members = []
        for (key, value) in members { self[key] = value }
    }

    /// The member `key`. Setting nil removes it; setting a new one appends it.
    public subscript(key: String) -> JSON? {
        get { members.first { $0.key == key }?.value }
        set {
            let place = members.firstIndex { $0.key == key }
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Adds a member that is known to be new, without looking.
    mutating func append(new key: String, _ value: JSON) {
        members.append(Member(key: key, value: value))
    }

    /// The keys, in order.
    public var keys: [String] { members.map(\.key) }
}

extension JSONObject: RandomAccessCollection {
    /// The place of the first member.
    public var startIndex: Int { 0 }
    /// One past the last member.
    public var endIndex: Int { members.count }
    /// The member at `position`.
    public subscript(position: Int) -> (key: String, value: JSON) {
        (members[position].key, members[position].value)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object, members in the order written.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self.init(elements)
    }
}
