import Diagnostics
import Foundation
import TestKit
import Testing

@Suite("Sensors, with the real programs", .timeLimit(.minutes(5)))
struct SensorTests {
    private struct Row: Decodable {
        struct Field: Decodable, Equatable {
            var name: String
            var unit: String
            var value: Double?
        }
        var stream: String
        var kind: String
        var fields: [Field]
        var state: String
    }

    @Test("sensors shows the accelerometer of a mocked machine as it stands", .enabled(if: Recordings.isAvailable))
    func mockedMachine() async throws {
        let folder = TemporaryDirectory()
        let configuration = try folder.write(
            """
            state = "\(folder.path)/state"
            [account]
            username = "ada"
            [[sampler]]
            kind = "iio"
            device = "lsm6dsl_accel"
            """,
            to: "feedbridge.toml"
        )
        chmod(configuration, 0o600)

        let output = try await ChildProcess.run(
            "umockdev-run",
            [
                "--device", try Recordings.path("testing/iio_accel.umockdev"), "--", BuiltPrograms.feedbridge,
                "sensors",
                "--json", "--config", configuration,
            ]
        )

        let rows = try JSONDecoder().decode([Row].self, from: Data(output.utf8))
        #expect(rows.map(\.stream) == ["accelerometer"])
        #expect(rows.first?.kind == "iio" && rows.first?.state == "ok")
        let expected = [("x", -0.073554), ("y", 0.02691), ("z", 9.797632)]
        #expect(rows.first?.fields == expected.map { Row.Field(name: $0.0, unit: "m/s^2", value: $0.1) })
    }

    /// The files of an accelerometer with a buffer.
    private func accelerometer() throws -> FakeMachine {
        let machine = try FakeMachine()
        var files = [
            "in_accel_scale": "0.000598", "sampling_frequency": "100", "buffer/enable": "0", "buffer/length": "2",
            "buffer/watermark": "1", "scan_elements/in_timestamp_index": "3", "scan_elements/in_timestamp_en": "0",
            "scan_elements/in_timestamp_type": "le:s64/64>>0",
        ]
        for (index, axis) in ["x", "y", "z"].enumerated() {
            files["in_accel_\(axis)_raw"] = "0"
            files["scan_elements/in_accel_\(axis)_index"] = "\(index)"
            files["scan_elements/in_accel_\(axis)_type"] = "le:s16/16>>0"
            files["scan_elements/in_accel_\(axis)_en"] = "0"
        }
        try machine.addIIODevice(0, name: "lsm6dsl", device: "i2c-1/1-006a", files)
        try FileManager.default.createDirectory(atPath: "\(machine.root)/dev", withIntermediateDirectories: true)
        return machine
    }

    /// Three axes of 16 bits, padding, a time of 64 bits.
    private func scans(_ count: Int, from first: Int64) -> Data {
        var bytes = Data()
        for number in 0..<count {
            for value in [Int16(number), 0, 16_384, 0] {
                withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
            }
            withUnsafeBytes(of: (first + Int64(number) * 10_000_000).littleEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    @Test("a batch is recorded with each sample's own time, published, read back, and the buffer is off after OFF")
    func batch() async throws {
        let machine = try accelerometer()
        let node = "\(machine.root)/dev/iio:device0"
        try #require(mkfifo(node, 0o600) == 0)
        let pipe = open(node, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(pipe >= 0)
        defer { close(pipe) }
        let simulator = try await SimulatorProcess()
        let bridge = try BridgeProcess(
            simulator,
            """
            [[sampler]]
            kind = "iio"
            mode = "batch"
            root = "\(machine.root)"

            [[rule]]
            stream = "accelerometer"
            field = "z"
            feed = "gravity"
            reduce = "mean"
            every = "1 s"
            precision = 3
            """
        )
        let run = try bridge.run()
        try await bridge.untilUp()
        try await simulator.publish("ON", to: "recording")
        let enable = "\(machine.iio)/buffer/enable"
        try await until("the buffer is on") { try machine.read(enable) == "1" }

        let first = (Int64(Date().timeIntervalSince1970) + 1) * 1_000_000_000
        let bytes = scans(500, from: first)
        #expect(bytes.withUnsafeBytes { write(pipe, $0.baseAddress, $0.count) } == bytes.count)
        try await until("every sample is recorded") {
            try await bridge.sessions().last?.samples["accelerometer"] == 500
        }
        try await until("their mean has arrived") { try await simulator.last("gravity") == "9.798" }
        try await simulator.publish("OFF", to: "recording")
        try await until("the buffer is off") { try machine.read(enable) == "0" }

        func moment(_ sample: Int) -> String {
            // Between two samples.
            Timestamp(nanoseconds: first + Int64(sample) * 10_000_000 - 5_000_000).iso8601(fractionDigits: 3)
        }
        let rows = try await bridge.feedbridge(
            "query",
            "--stream",
            "accelerometer",
            "--from",
            moment(100),
            "--to",
            moment(200)
        ).split(separator: "\n")
        #expect(rows.first == "time_ns,x,y,z")
        #expect(rows.count == 101)
        #expect(rows.last?.hasPrefix("\(first + 199 * 10_000_000),") == true)
        run.signal(SIGTERM)
        #expect(try await run.ended() == 0)
    }
}

extension FakeMachine {
    fileprivate var iio: String { "sys/bus/iio/devices/iio:device0" }
}
