import Samples
import TestKit
import Testing
import XML

@testable import IIOSamplers

/// The files of the first device in a context that libiio wrote.
private final class LibIIOContext: XMLHandler {
    var name = ""
    var files = ["buffer/enable": "0", "buffer/length": "2", "buffer/watermark": "1"]
    private var devices = 0
    private var channel = ""

    func begin(_ element: XMLElement) {
        if element.name == "device" { devices += 1 }
        guard devices == 1 else { return }
        switch element.name {
        case "device": name = element["name"]?.string ?? ""
        case "channel": channel = element["id"]?.string ?? ""
        case "scan-element":
            files["scan_elements/in_\(channel)_index"] = element["index"]?.string
            files["scan_elements/in_\(channel)_type"] = element["format"]?.string
            files["scan_elements/in_\(channel)_en"] = "0"
        case "attribute":
            let file = element["filename"]?.string ?? "in_\(channel)_\(element["name"]?.string ?? "")"
            files[file] = element["value"]?.string
        default: break
        }
    }

    func end(_ name: XMLText) {}
}

/// Trees of real devices, as libiio wrote them down, put back into files.
@Suite("Recorded Industrial I/O devices", .enabled(if: Recordings.isAvailable), .timeLimit(.minutes(5)))
struct RecordingTests {
    /// Makes the folder of the first device in a context of libiio.
    private func machine(_ recording: String) throws -> FakeMachine {
        let context = LibIIOContext()
        let parser = XMLParser(context, wantsCharacters: false)
        try Recordings.bytes(recording).withUnsafeBytes { try parser.parse($0, isLast: true) }
        let machine = try FakeMachine()
        try machine.addIIODevice(0, name: context.name, device: "spi0.0", context.files)
        return machine
    }

    @Test("an ADXL355 reads gravity in z, and its temperature with a negative scale and offset")
    func adxl355() async throws {
        let machine = try machine("iio/adxl355.xml")

        let readings = try await machine.readings()

        let expected = [-4641, -2198, 257_934].map { Double($0) * 0.000038245 }
        #expect(isClose(readings["accelerometer"], expected, within: 1e-9))
        let celsius = (1838 - 2111.25) * -110.497238 / 1000
        #expect(isClose(readings["temperature.adxl355"], [celsius], within: 1e-9))
        let squares = (readings["accelerometer"] ?? []).map { ($0 ?? 0) * ($0 ?? 0) }
        let gravity = squares.reduce(0, +).squareRoot()
        #expect((9.7...9.95).contains(gravity))
        #expect(IIODescription.all(root: machine.root).map(\.hasBuffer) == [true])
    }

    @Test("scans of the recorded ADXL355 lie as its types say: 20 bits, big-endian, time at 16")
    func adxl355Scans() async throws {
        let machine = try machine("iio/adxl355.xml")
        let device = try #require(IIODevice.all(in: IIORoot(machine.root)).first)

        let layout = ScanLayout(
            device.channels.compactMap { channel in
                guard let index = channel.index, let type = channel.type else { return nil }
                return (channel.name, index, type)
            }
        )

        #expect(layout.elements.map(\.channel.base) == ["accel_x", "accel_y", "accel_z"])
        #expect(layout.elements.map(\.offset) == [0, 4, 8])
        #expect(layout.timestamp?.offset == 16)
        #expect(layout.size == 24)
    }

    @Test("an ADT7420 that shows no value the kernel's way is no stream")
    func adt7420() async throws {
        let machine = try machine("iio/adt7420.xml")

        let sampler = try machine.sampler()

        // Its only number is called in_temp_temp, which is no attribute of Industrial I/O; its scan can be collected.
        #expect(sampler.streams.map(\.name.text) == ["temperature"])
        let condition = await sampler.readings().first?.condition
        #expect(condition?.word == "missing")
        #expect(condition?.detail?.contains("mode = \"buffer\"") == true)
    }

    @Test("limits of events are no channels")
    func events() async throws {
        let machine = try machine("iio/libiio_event_attrs.xml")

        let readings = try await machine.readings()

        #expect(isClose(readings["accelerometer"], [0.5, 0.25, -0.1]))
        #expect(readings.count == 1)
    }
}
