import Diagnostics
import Foundation
import Samples
import TestKit

@testable import IIOSamplers

/// Files of a 3-axis accelerometer that can be polled and buffered.
func accelerometerFiles(_ more: [String: String] = [:]) -> [String: String] {
    var files = [
        "in_accel_scale": "0.000598", "sampling_frequency": "100.000000",
        "buffer/enable": "0", "buffer/length": "2", "buffer/watermark": "1",
        "scan_elements/in_timestamp_index": "3", "scan_elements/in_timestamp_type": "le:s64/64>>0",
        "scan_elements/in_timestamp_en": "0",
    ]
    for (index, axis, raw) in [(0, "x", "-123"), (1, "y", "45"), (2, "z", "16384")] {
        files["in_accel_\(axis)_raw"] = raw
        files["scan_elements/in_accel_\(axis)_index"] = "\(index)"
        files["scan_elements/in_accel_\(axis)_type"] = "le:s16/16>>0"
        files["scan_elements/in_accel_\(axis)_en"] = "0"
    }
    return files.merging(more) { $1 }
}

extension FakeMachine {
    /// A sampler of this machine's sensors.
    func sampler(
        time: any TimeSource = ManualTime(),
        _ change: (inout IIOConfiguration) -> Void = { _ in }
    ) throws -> IIOSampler {
        var configuration = IIOConfiguration()
        configuration.root = root
        change(&configuration)
        return try IIOSampler(configuration, time: time)
    }

    /// The folder of a device's files.
    func iio(_ number: Int) -> String { "sys/bus/iio/devices/iio:device\(number)" }

    /// What one reading of everything gives: the numbers of each stream.
    func readings(_ change: (inout IIOConfiguration) -> Void = { _ in }) async throws -> [String: [Double?]] {
        let readings = try await sampler(change).readings()
        return Dictionary(uniqueKeysWithValues: readings.map { ($0.stream.name.text, $0.values.map(\.number)) })
    }
}

/// A sampler that runs, on a clock that a test moves.
struct Running {
    let time: ManualTime
    let sink: CollectingSink
    let task: Task<Void, any Error>

    init(_ sampler: IIOSampler, time: ManualTime) {
        let sink = CollectingSink()
        self.time = time
        self.sink = sink
        task = Task { try await sampler.run(into: sink) }
    }

    /// Moves the clock once the sampler sleeps.
    func advance(by duration: Duration) async {
        await time.untilSleeping()
        time.advance(by: duration)
    }

    /// Stops it, and returns when it has stopped.
    func stop() async {
        task.cancel()
        _ = await task.result
    }
}

/// A pipe that stands for `/dev/iio:deviceN`: what is written into it is read from there as a device's scans are.
final class ScanFeed: Sendable {
    private let descriptor: Int32

    init(_ machine: FakeMachine, _ number: Int) throws {
        try FileManager.default.createDirectory(atPath: "\(machine.root)/dev", withIntermediateDirectories: true)
        let path = "\(machine.root)/dev/iio:device\(number)"
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws {
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw POSIXError(.EIO) }
    }
}

/// The bytes of a whole number, the lowest first.
func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
}

/// A scan of the accelerometer above: three axes, padding, the time.
func scan(_ x: Int16, _ y: Int16, _ z: Int16, at time: Int64) -> [UInt8] {
    littleEndian(x) + littleEndian(y) + littleEndian(z) + [0, 0] + littleEndian(time)
}

/// Whether the numbers are those that are expected, but for rounding.
func isClose(_ numbers: [Double?]?, _ expected: [Double?], within tolerance: Double = 1e-6) -> Bool {
    guard let numbers, numbers.count == expected.count else { return false }
    return zip(numbers, expected).allSatisfy { number, right in
        guard let number, let right else { return number == nil && right == nil }
        return abs(number - right) <= tolerance
    }
}
