/// What a sampler of Industrial I/O is to read, and how.
public struct IIOConfiguration: Sendable, Hashable {
    /// How samples are taken.
    public enum Mode: String, Sendable, CaseIterable {
        /// Each value is asked for, `every` so often.
        case poll
        /// The kernel collects scans at the sensor's own rate, and hands them over some times a second.
        case buffer
        /// The same, handed over seldom: the processor sleeps while the sensor's own memory fills.
        case batch
    }

    /// The device's name, its label, or the end of its path; nil for every device.
    public var device: String?
    /// The types of channels (`accel`) or streams (`accelerometer`) to read; nil for all.
    public var channels: [String]?
    /// What is put behind the streams' names.
    public var suffix: String?
    /// How samples are taken.
    public var mode = Mode.poll
    /// How often values are asked for when polled.
    public var every = Duration.milliseconds(100)
    /// The rate to set in the sensor for its buffer; nil leaves it as it is.
    public var rate: Double?
    /// How long samples are left in the sensor's memory in `batch` mode.
    public var batch = Duration.seconds(60)
    /// The name of the trigger that starts each scan; nil for the sensor's own.
    public var trigger: String?
    /// What readings are multiplied with, where the driver's scale is wrong.
    public var factor = 1.0
    /// The number of a proximity sensor from which something is near; nil takes the driver's.
    public var nearLevel: Double?
    /// `a, b, c; d, e, f; g, h, i`: how the sensor is built in; nil takes udev's or the driver's.
    public var mountMatrix: String?
    /// The folder that stands for `/`.
    public var root = "/"

    /// Reads everything that is there, polled.
    public init() {}

    /// Whether `text` is a mount matrix that loses no axis.
    public static func isMountMatrix(_ text: String) -> Bool { MountMatrix(text) != nil }
}
