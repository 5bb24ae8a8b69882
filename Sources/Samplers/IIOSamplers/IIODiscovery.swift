public import Samples

/// A device of Industrial I/O that is there, for a configuration to be written for it.
public struct IIODescription: Sendable {
    /// The part's name.
    public let name: String
    /// Where on the machine it is, if the driver tells.
    public let label: String?
    /// The types of its channels, for `channels`.
    public let channels: [String]
    /// Its streams, named as when all devices are read by one sampler.
    public let streams: [Samples.Stream]
    /// Whether it has a buffer.
    public let hasBuffer: Bool

    /// Every device below the folder that stands for `/`.
    public static func all(root: String = "/") -> [IIODescription] {
        var names = StreamNames()
        return IIODevice.all(in: IIORoot(root)).map { device in
            let plans = names.name(StreamPlan.plans(for: device, wanted: nil), device: device, suffix: nil)
            let types = Set(plans.flatMap { $0.inputs.map(\.channel.type) })
            return IIODescription(
                name: device.name,
                label: device.label,
                channels: types.sorted(),
                streams: plans.map(\.stream),
                hasBuffer: device.hasBuffer
            )
        }
    }
}
