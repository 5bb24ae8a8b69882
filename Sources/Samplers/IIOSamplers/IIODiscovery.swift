public import Samples

/// A device of Industrial I/O that is there, for a configuration to be written for it.
public struct IIODescription: Sendable {
    /// The part's name.
    public let name: String
    /// Where on the machine it is, if the driver tells.
    public let label: String?
    /// What names it and no other device: its label, its name, or the end of its path.
    public let identifier: String
    /// The word behind the names of its streams where the plain ones are taken.
    public let suffix: String
    /// The types of its channels, for `channels`.
    public let channels: [String]
    /// Its streams under their plain names.
    public let streams: [Samples.Stream]
    /// Whether the kernel can collect its samples.
    public let hasBuffer: Bool

    /// Every device below the folder that stands for `/`.
    public static func all(root: String = "/") -> [IIODescription] {
        let devices = IIODevice.all(in: IIORoot(root))
        return devices.map { device in
            var names = StreamNames()
            let plans = names.name(StreamPlan.plans(for: device, wanted: nil), device: device, suffix: nil)
            let types = Set(plans.flatMap { $0.inputs.map(\.channel.type) })
            let words = [device.label, device.name].compactMap(\.self)
            let place = device.realPath.split(separator: "/").dropLast().last.map(String.init) ?? device.name
            return IIODescription(
                name: device.name,
                label: device.label,
                identifier: words.first { word in devices.count { $0.matches(word) } == 1 } ?? place,
                suffix: Name(mapping: StreamNames.word(for: device)).text,
                channels: types.sorted(),
                streams: plans.map(\.stream),
                hasBuffer: device.hasBuffer
            )
        }
        .filter { !$0.streams.isEmpty }
    }
}
