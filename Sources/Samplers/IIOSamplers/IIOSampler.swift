// Hardware: what the kernel's drivers of Industrial I/O show below /sys/bus/iio/devices: accelerometers, gyroscopes,
// magnetometers, sensors of light, proximity, pressure, temperature, humidity, steps, rotation, converters of voltages.
//
// Units: m/s^2, rad/s, uT, lx, hPa, degrees Celsius, percent, V, A, W. The kernel's own are Gauss, kPa, thousandths of a
// degree and of a percent, mV, mA and mW.
//
// Axes: x to the right, y to the top of the screen, z out of the screen, after the mount matrix. An accelerometer at rest
// with its screen up reads +9.81 in z.
//
// Rate: as asked for when polled; through the buffer as the sensor is set, with the kernel's time of each sample.
//
// What goes wrong: numbers of devices change at each start, mount matrices are missing or lose an axis, scales are ignored
// or wrong, signs are not extended, another program has the buffer, the sensor is unplugged, the files belong to root.
public import Diagnostics
internal import KernelFiles
public import Samples

/// The sensors of Linux Industrial I/O: one device, or all that there are.
public final class IIOSampler: Sampler {
    /// `iio`.
    public let kind = "iio"

    /// The streams of every device.
    public let streams: [Samples.Stream]

    private let runners: [DeviceRunner]
    private let settings: IIOConfiguration
    private let time: any TimeSource

    /// Finds the devices that the configuration means. It reads small files, so it may block for some milliseconds.
    ///
    /// A device that is not there is waited for, if the configuration names its channels: else nobody knows its streams.
    public init(_ configuration: IIOConfiguration, time: any TimeSource = SystemTime()) throws(IIOError) {
        if let matrix = configuration.mountMatrix, MountMatrix(matrix) == nil {
            throw IIOError(
                .error(
                    "the mount matrix \"\(matrix)\" is none: it is like \"0, 1, 0; -1, 0, 0; 0, 0, 1\" and loses no axis"
                )
            )
        }
        let there = IIODevice.all(in: IIORoot(configuration.root))
        let wanted = configuration.device.map { text in there.filter { $0.matches(text) } } ?? there
        var names = StreamNames()
        var found: [(device: IIODevice?, plans: [StreamPlan])] = wanted.map { device in
            let plans = StreamPlan.plans(for: device, wanted: configuration.channels)
            return (device, names.name(plans, device: device, suffix: configuration.suffix))
        }
        found.removeAll(where: \.plans.isEmpty)
        if found.isEmpty, let name = configuration.device {
            guard let channels = configuration.channels, !channels.isEmpty else {
                throw IIOSampler.noSuchDevice(name, there)
            }
            let plans = StreamPlan.usualPlans(for: channels)
            found = [(nil, names.name(plans, device: nil, suffix: configuration.suffix))]
        }
        let devices = found.compactMap(\.device)
        runners = found.map { device, plans in
            DeviceRunner(
                plans: plans,
                known: device,
                others: devices.filter { $0 != device },
                settings: configuration,
                time: time
            )
        }
        streams = found.flatMap { $0.plans.map(\.stream) }
        settings = configuration
        self.time = time
    }

    /// Reads every device until the task is cancelled; what fails or goes away is tried again.
    public func run(into sink: any SampleSink) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for runner in runners { group.addTask { try await runner.run(into: sink) } }
            try await group.waitForAll()
        }
    }

    /// Reads every stream once, by asking for it.
    public func readings() async -> [SensorReading] {
        var readings: [SensorReading] = []
        for runner in runners {
            let poll = DevicePoll(settings, time: time)
            readings += await poll.readings(runner.plans, known: runner.known, others: runner.others)
        }
        return readings
    }

    private static func noSuchDevice(_ name: String, _ there: [IIODevice]) -> IIOError {
        let list = there.map { device in device.label.map { "\(device.name) (\($0))" } ?? device.name }
        let found = list.isEmpty ? "There is none" : "There are: \(list.joined(separator: ", "))"
        return IIOError(
            .missing(
                "there is no device \"\(name)\" of Industrial I/O with such channels. \(found). To wait for one that "
                    + "comes later, name what it measures: channels = [\"accel\"]"
            )
        )
    }
}
