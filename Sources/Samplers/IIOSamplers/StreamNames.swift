internal import Samples

/// Names for the streams of several devices: the first of a kind has the plain name, the others a suffix.
struct StreamNames {
    private var used: Set<Name> = []

    /// Names the plans of one device.
    ///
    /// - Parameters:
    ///   - suffix: What the configuration says the device is called, if it says so.
    mutating func name(_ plans: [StreamPlan], device: IIODevice?, suffix: String?) -> [StreamPlan] {
        let types = Set(plans.flatMap { $0.inputs.map(\.channel.type) })
        let hasMotion = !types.isDisjoint(with: ["accel", "anglvel", "magn"])
        return plans.map { plan in
            let plain = plan.stream.name.text
            if let suffix { return plan.named(free("\(plain).\(suffix)")) }
            // What an inertial sensor says of temperature is about itself, not about the room.
            let isOwn = hasMotion && plain == "temperature"
            if !isOwn, used.insert(plan.stream.name).inserted { return plan }
            return plan.named(free("\(plain).\(StreamNames.word(for: device))"))
        }
    }

    /// The place that the label tells (`accel-display`), else the part's name.
    static func word(for device: IIODevice?) -> String {
        guard let device else { return "2" }
        let label = device.label.map { label in
            label.firstIndex(of: "-").map { String(label[label.index(after: $0)...]) } ?? label
        }
        let text = label ?? device.name
        return text.replacing(".", with: "_")
    }

    private mutating func free(_ text: String) -> Name {
        var name = Name(mapping: text)
        var number = 2
        while !used.insert(name).inserted {
            let ending = "_\(number)"
            name = Name(mapping: String(Name(mapping: text).text.prefix(64 - ending.utf8.count)) + ending)
            number += 1
        }
        return name
    }
}
