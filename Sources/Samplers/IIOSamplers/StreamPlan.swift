internal import Samples

/// How the channels of a device become one stream.
struct StreamPlan: Sendable, Equatable {
    /// What is made of the numbers.
    enum Shape: Sendable, Equatable {
        /// Each number is a field.
        case plain
        /// Near or not, and the number itself: larger is nearer.
        case proximity
        /// A total that never falls, whatever the device's own does.
        case steps
        /// x, y, z, w become a rotation and its angles.
        case quaternion
        /// Degrees from north.
        case heading
    }

    /// One channel, and how many numbers it gives.
    struct Input: Sendable, Equatable {
        let channel: ChannelName
        let count: Int
    }

    let stream: Stream
    let kind: ChannelKind
    let shape: Shape
    /// Where the numbers come from, in the order of the fields.
    let inputs: [Input]

    /// The number of all numbers.
    var width: Int { inputs.reduce(0) { $0 + $1.count } }

    /// The same with another name for the stream.
    func named(_ name: Name) -> StreamPlan {
        StreamPlan(stream: Stream(name, fields: stream.fields), kind: kind, shape: shape, inputs: inputs)
    }
}

extension StreamPlan {
    /// The streams of a device; with `wanted`, only those of these types or streams.
    static func plans(for device: IIODevice, wanted: [String]?) -> [StreamPlan] {
        let channels = device.channels.filter { $0.name.type != "timestamp" }
        let unscaled = Set(channels.filter { !$0.isProcessed && !$0.hasScale }.map(\.name))
        return plans(for: channels.map(\.name), unscaled: unscaled, wanted: wanted)
    }

    /// The streams that a device with channels of these types usually has, for one that is not there yet.
    static func usualPlans(for wanted: [String]) -> [StreamPlan] {
        let bases = wanted.flatMap { word -> [String] in
            let types = ChannelKind.types.filter { $0 == word || ChannelKind.of($0).stream == word }
            let type = types.first { $0 == word } ?? types.min() ?? word
            if word == "attitude" { return ["rot_quaternion"] }
            if word == "heading" { return ["rot_from_north_magnetic_tilt_comp"] }
            return ChannelKind.of(type).isVector ? ["x", "y", "z"].map { "\(type)_\($0)" } : [type]
        }
        return plans(for: bases.compactMap { ChannelName(base: $0) }, unscaled: [], wanted: nil)
    }

    private static func plans(
        for channels: [ChannelName],
        unscaled: Set<ChannelName>,
        wanted: [String]?
    ) -> [StreamPlan] {
        var groups: [String: [ChannelName]] = [:]
        for channel in channels {
            let group = special(channel) ?? channel.type
            groups[group, default: []].append(channel)
        }
        var plans: [StreamPlan] = []
        for (group, channels) in groups {
            let isUnscaled = channels.contains(where: unscaled.contains)
            let plan = plan(group, channels.sorted { order($0) < order($1) }, isUnscaled: isUnscaled)
            let words = [group, channels[0].type, plan.stream.name.text]
            guard wanted.map({ words.contains(where: $0.contains) }) ?? true else { continue }
            plans.append(plan)
        }
        return plans.sorted { $0.stream.name < $1.stream.name }
    }

    /// Channels of a type that become another stream than the rest of their type.
    private static func special(_ channel: ChannelName) -> String? {
        if channel.base == "rot_quaternion" { return "attitude" }
        return channel.base.hasPrefix("rot_from_north") ? "heading" : nil
    }

    /// By the axis, then by number, then by name.
    private static func order(_ channel: ChannelName) -> (Int, Int, String) {
        let digits = channel.modifier.prefix { $0.isNumber }
        // The best of the directions first: true north before magnetic, tilt put right before not.
        let rank = channel.base.contains("_true") ? 0 : 1
        let tilt = channel.base.contains("tilt_comp") ? 0 : 1
        if channel.base.hasPrefix("rot_from_north") { return (rank, tilt, channel.base) }
        return (Int(digits) ?? 0, channel.modifier.count, channel.modifier)
    }

    private static func plan(_ group: String, _ channels: [ChannelName], isUnscaled: Bool) -> StreamPlan {
        let kind = ChannelKind.of(channels[0].type)
        func known(_ name: String, _ shape: Shape, _ channel: ChannelName, count: Int = 1) -> StreamPlan {
            let name = Name(mapping: name)
            let fields = KnownStreams.fields(of: name) ?? [Field(Name(mapping: "value"))]
            return StreamPlan(
                stream: Stream(name, fields: fields),
                kind: kind,
                shape: shape,
                inputs: [Input(channel: channel, count: count)]
            )
        }
        switch group {
        case "attitude": return known("attitude", .quaternion, channels[0], count: 4)
        case "heading": return known("heading", .heading, channels[0])
        case "steps":
            let count = Field(Name(mapping: "count"), kind: .integer)
            return StreamPlan(
                stream: Stream(Name(mapping: "steps"), fields: [count]),
                kind: kind,
                shape: .steps,
                inputs: [Input(channel: channels[0], count: 1)]
            )
        case "proximity":
            let near = Field(Name(mapping: "near"), kind: .flag)
            return StreamPlan(
                stream: Stream(Name(mapping: "proximity"), fields: [near, Field(Name(mapping: "value"))]),
                kind: kind,
                shape: .proximity,
                inputs: [Input(channel: channels[0], count: 1)]
            )
        default:
            let some = channels.prefix(64)
            var names = UniqueNames()
            let fields = some.map { channel in
                Field(
                    names.name("", fieldName(channel, isAlone: some.count == 1)),
                    unit: isUnscaled ? .none : kind.unit
                )
            }
            return StreamPlan(
                stream: Stream(Name(mapping: kind.stream), fields: fields),
                kind: kind,
                shape: .plain,
                inputs: some.map { Input(channel: $0, count: 1) }
            )
        }
    }

    private static func fieldName(_ channel: ChannelName, isAlone: Bool) -> String {
        let modifier = channel.modifier
        let isAxis = ["x", "y", "z"].contains(modifier)
        if modifier.isEmpty || (isAlone && !isAxis) { return "value" }
        return modifier.first?.isNumber == true ? "ch\(modifier)" : modifier
    }
}
