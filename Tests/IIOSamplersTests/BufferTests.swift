import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import IIOSamplers

@Suite("Buffered sensors", .timeLimit(.minutes(5))) struct BufferTests {
    private let machine: FakeMachine
    private let feed: ScanFeed
    /// In the test's scans, before the first of them.
    private let time = ManualTime(wall: Timestamp(nanoseconds: 1_700_000_000_000_000_000))
    private let first: Int64 = 1_700_000_001_000_000_000

    init() throws {
        machine = try FakeMachine()
        try machine.addIIODevice(0, name: "lsm6dsl_accel", device: "i2c-1/1-006a", accelerometerFiles())
        feed = try ScanFeed(machine, 0)
    }

    private var folder: String { machine.iio(0) }

    private func run(_ change: (inout IIOConfiguration) -> Void = { _ in }) throws -> Running {
        let sampler = try machine.sampler(time: time) {
            $0.mode = .buffer
            change(&$0)
        }
        return Running(sampler, time: time)
    }

    private func samples(_ run: Running) -> [(time: Timestamp, values: [Value])] {
        run.sink.contents.samples(of: "accelerometer")
    }

    @Test("the recorded scans give their values and times", .enabled(if: Recordings.isAvailable))
    func recordedScans() async throws {
        try feed.write(try Recordings.bytes("testing/iio_scans_le_s16x3_pad_s64.bin"))

        let run = try run()
        await run.sink.until { $0.count == 5 }
        await run.stop()

        let samples = samples(run)
        for (place, sample) in samples.enumerated() {
            let x = Double(-123 + place) * 0.000598
            #expect(isClose(sample.values.map(\.number), [x, 0.02691, 9.797632], within: 1e-12))
        }
        let steps = zip(samples, samples.dropFirst()).map { ($1.time - $0.time).nanoseconds }
        #expect(steps == [10_000_000, 10_000_000, 10_000_000, 10_000_000])
        #expect(samples[0].time.nanoseconds == 1_700_000_000_000_000_000)
    }

    @Test("everything is set before the buffer goes on, and it is off after the stop")
    func setsAndEnds() async throws {
        try machine.write("1", to: "\(folder)/buffer/enable")
        try machine.write("12.5 26 104", to: "\(folder)/sampling_frequency_available")
        try machine.write("0", to: "\(folder)/scan_elements/in_incli_x_en")
        let run = try run { $0.rate = 100 }
        try feed.write(scan(0, 0, 1, at: first))
        await run.sink.until { $0.count == 1 }

        #expect(try machine.read("\(folder)/buffer/enable") == "1")
        #expect(try machine.read("\(folder)/sampling_frequency") == "104")
        #expect(try machine.read("\(folder)/buffer/watermark") == "10")
        #expect(try machine.read("\(folder)/buffer/length") == "64")
        for element in ["accel_x", "accel_y", "accel_z", "timestamp"] {
            #expect(try machine.read("\(folder)/scan_elements/in_\(element)_en") == "1")
        }
        await run.stop()
        #expect(try machine.read("\(folder)/buffer/enable") == "0")
    }

    @Test("a batch is left in the sensor's memory as long as that can hold it, and each sample keeps its own time")
    func batch() async throws {
        try machine.write("1000", to: "\(folder)/buffer/hwfifo_watermark_max")
        let run = try run {
            $0.mode = .batch
            $0.batch = .seconds(60)
        }
        let bytes = (0..<500).flatMap { scan(Int16($0), 0, 16384, at: first + Int64($0) * 10_000_000) }
        try feed.write(bytes)
        await run.sink.until { $0.count >= 500 }

        #expect(try machine.read("\(folder)/buffer/watermark") == "750")
        #expect(try machine.read("\(folder)/buffer/length") == "3000")
        await run.stop()
        let samples = samples(run)
        #expect(samples.count == 500)
        #expect(zip(samples, samples.dropFirst()).allSatisfy { ($1.time - $0.time) == .milliseconds(10) })
        #expect(run.sink.contents.rejects.isEmpty)
    }

    @Test("the boot clock is asked for, so that a step of the wall clock moves no sample against another")
    func bootClock() async throws {
        try machine.write("realtime", to: "\(folder)/current_timestamp_clock")
        let run = try run()
        let boot = time.boot().nanoseconds
        let wall = time.wall()

        try feed.write(scan(0, 0, 0, at: boot + 10_000_000) + scan(0, 0, 0, at: boot + 20_000_000))
        await run.sink.until { $0.count == 2 }
        await run.stop()

        #expect(try machine.read("\(folder)/current_timestamp_clock") == "boottime")
        #expect(samples(run).map { $0.time - wall } == [.milliseconds(10), .milliseconds(20)])
    }

    @Test("scans that come in pieces are put together")
    func pieces() async throws {
        let run = try run()
        let bytes = (0..<20).flatMap { scan(Int16($0), 1, 2, at: first + Int64($0) * 10_000_000) }
        var rest = bytes[...]
        var came = 0
        for size in [1, 15, 7, 30, 3, 100, 8, 64, 92] {
            try feed.write(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
            came += size
            let whole = came / 16
            await run.sink.until { $0.count >= whole }
        }
        await run.stop()

        #expect(rest.isEmpty)
        let values = samples(run).flatMap { sample in sample.values.map { ($0.number ?? .nan) / 0.000598 } }
        let expected: [Double] = (0..<20).flatMap { [Double($0), 1, 2] }
        #expect(isClose(values, expected))
    }

    @Test("what the memory held before the start is left out")
    func flushesAtStart() async throws {
        try feed.write(scan(1, 0, 0, at: 1_600_000_000_000_000_000) + scan(2, 0, 0, at: first))

        let run = try run()
        await run.sink.until { $0.count == 1 }
        await run.stop()

        #expect(samples(run).map(\.time.nanoseconds) == [first])
    }

    @Test("what is in the memory at the stop is taken")
    func drainsAtStop() async throws {
        let run = try run()
        try feed.write(scan(1, 0, 0, at: first))
        await run.sink.until { $0.count == 1 }

        try feed.write(scan(2, 0, 0, at: first + 10_000_000))
        await run.stop()

        #expect(samples(run).count == 2)
        #expect(try machine.read("\(folder)/buffer/enable") == "0")
    }

    @Test("scans that a full buffer dropped are counted")
    func overflow() async throws {
        let run = try run()
        let numbers = Array(0..<50) + Array(57..<100)
        try feed.write(numbers.flatMap { scan(0, 0, 0, at: first + Int64($0) * 10_000_000) })
        await run.sink.until { $0.count == 93 }
        await run.stop()

        let rejects = run.sink.contents.rejects
        #expect(rejects.map(\.count) == [7])
        #expect(rejects.first?.example.contains("buffer") == true)
    }

    @Test("elements lie by their index even when that is not the order of their names")
    func indexOrder() async throws {
        try machine.write("1", to: "\(folder)/scan_elements/in_accel_x_index")
        try machine.write("0", to: "\(folder)/scan_elements/in_accel_y_index")
        let run = try run()
        try feed.write(scan(1, 2, 3, at: first))
        await run.sink.until { $0.count == 1 }
        await run.stop()

        #expect(isClose(samples(run)[0].values.map(\.number), [0.001196, 0.000598, 0.001794]))
    }

    @Test("a big-endian part of 20 bits without a time gets times spread until now")
    func withoutTime() async throws {
        let machine = try FakeMachine()
        var files = accelerometerFiles(["in_accel_scale": "0.000038245"])
        for axis in ["x", "y", "z"] { files["scan_elements/in_accel_\(axis)_type"] = "be:s20/32>>4" }
        files = files.filter { !$0.key.contains("timestamp_") || $0.key.hasPrefix("current") }
        try machine.addIIODevice(3, name: "adxl355", device: "spi0.0", files)
        let feed = try ScanFeed(machine, 3)
        let sampler = try machine.sampler(time: time) { $0.mode = .buffer }
        let scan: [UInt8] = [0x00, 0xFE, 0xDD, 0xF0, 0x00, 0xFF, 0x76, 0xA0, 0x00, 0x3E, 0xF8, 0xE0]
        try feed.write(scan + scan)

        let run = Running(sampler, time: time)
        await run.sink.until { $0.count == 2 }
        await run.stop()

        let samples = samples(run)
        let expected = [-4641, -2198, 257_934].map { Double($0) * 0.000038245 }
        #expect(isClose(samples[1].values.map(\.number), expected))
        #expect(samples.map { $0.time - time.wall() } == [.milliseconds(-10), .zero])
    }

    @Test("nine channels of one scan become three streams, and what has no scan is asked for")
    func nineChannels() async throws {
        let machine = try FakeMachine()
        var files = [
            "buffer/enable": "0", "buffer/length": "2", "sampling_frequency": "1000", "in_temp_input": "30000",
        ]
        for (type, index) in [("accel", 0), ("anglvel", 3), ("magn", 6)] {
            files["in_\(type)_scale"] = "0.5"
            for (axis, offset) in [("x", 0), ("y", 1), ("z", 2)] {
                files["scan_elements/in_\(type)_\(axis)_index"] = "\(index + offset)"
                files["scan_elements/in_\(type)_\(axis)_type"] = "le:s16/16>>0"
                files["scan_elements/in_\(type)_\(axis)_en"] = "0"
            }
        }
        files["scan_elements/in_timestamp_index"] = "9"
        files["scan_elements/in_timestamp_type"] = "le:s64/64>>0"
        files["scan_elements/in_timestamp_en"] = "0"
        try machine.addIIODevice(0, name: "imu", device: "spi0.1", files)
        let feed = try ScanFeed(machine, 0)
        let sampler = try machine.sampler(time: time) { $0.mode = .buffer }
        let run = Running(sampler, time: time)

        try feed.write((1...9).flatMap { littleEndian(Int16($0)) } + [0, 0, 0, 0, 0, 0] + littleEndian(first))
        await run.sink.until { $0.count == 4 }
        await run.stop()

        let contents = run.sink.contents
        #expect(contents.samples(of: "accelerometer")[0].values.map(\.number) == [0.5, 1, 1.5])
        #expect(contents.samples(of: "gyroscope")[0].values.map(\.number) == [2, 2.5, 3])
        #expect(contents.samples(of: "magnetometer")[0].values.map(\.number) == [350, 400, 450])
        #expect(contents.samples(of: "gyroscope")[0].time.nanoseconds == first)
        #expect(contents.samples(of: "temperature.imu").map { $0.values } == [[.real(30)]])
    }

    @Test("a setting that may not be written is no-permission with the udev rule, and the buffer is left off")
    func noPermission() async throws {
        try machine.forbidWriting("sys/devices/i2c-1/1-006a/iio:device0/buffer/length")
        let run = try run()

        await run.sink.until { !$0.reports.isEmpty }
        await run.stop()

        let report = run.sink.contents.reports[0].condition
        #expect(report.word == "no-permission")
        #expect(report.detail?.contains("buffer/length") == true && report.detail?.contains("udev") == true)
        #expect(try machine.read("\(folder)/buffer/enable") == "0")
        #expect(try machine.read("\(folder)/buffer/watermark") == "1")
    }

    @Test("a device that needs a trigger gets its own, or the remedy is told")
    func trigger() async throws {
        try machine.write("", to: "\(folder)/trigger/current_trigger")
        let failing = try run()
        await failing.sink.until { !$0.reports.isEmpty }
        await failing.stop()
        #expect(failing.sink.contents.reports[0].condition.detail?.contains("hrtimer") == true)

        try machine.write("sysfstrig1", to: "sys/bus/iio/devices/trigger0/name")
        try machine.write("lsm6dsl_accel-dev0", to: "sys/bus/iio/devices/trigger3/name")
        let run = try run()
        try feed.write(scan(0, 0, 0, at: first))
        await run.sink.until { $0.count == 1 }
        await run.stop()

        #expect(try machine.read("\(folder)/trigger/current_trigger") == "lsm6dsl_accel-dev0")
    }

    @Test("a device that is unplugged while its buffer runs is missing and goes on when it returns")
    func unplugged() async throws {
        let run = try run()
        try feed.write(scan(0, 0, 0, at: first))
        await run.sink.until { $0.count == 1 }

        try machine.removeIIODevice(0)
        await run.sink.until { $0.words(of: "accelerometer") == ["ok", "missing"] }
        await run.time.untilSleeping()
        try machine.addIIODevice(5, name: "lsm6dsl_accel", device: "i2c-1/1-006a", accelerometerFiles())
        let feed = try ScanFeed(machine, 5)
        try feed.write(scan(7, 0, 0, at: first + 60_000_000_000))
        run.time.advance(by: .seconds(40))
        await run.sink.until { $0.count == 2 }
        await run.stop()

        #expect(run.sink.contents.words(of: "accelerometer") == ["ok", "missing", "ok"])
        #expect(try machine.read("\(machine.iio(5))/buffer/enable") == "0")
    }

    @Test("it starts and stops any number of times, and the buffer is off after each")
    func manyStarts() async throws {
        let sampler = try machine.sampler(time: time) { $0.mode = .buffer }
        for number in 0..<20 {
            let run = Running(sampler, time: time)
            try feed.write(scan(0, 0, 0, at: first + Int64(number)))
            await run.sink.until { $0.count == 1 }
            await run.stop()
            #expect(try machine.read("\(folder)/buffer/enable") == "0")
        }
        // Stopped at once, before anything could be set up.
        for _ in 0..<20 {
            let run = Running(sampler, time: time)
            await run.stop()
            #expect(try machine.read("\(folder)/buffer/enable") == "0")
        }
    }

    @Test("random bytes are samples or nothing, and never a trap")
    func fuzz() async throws {
        let run = try run()
        for _ in 0..<50 { try feed.write((0..<160).map { _ in UInt8.random(in: 0...255) }) }
        try feed.write(scan(0, 0, 0, at: .max) + scan(0, 0, 0, at: .min) + scan(1, 2, 3, at: first))
        await run.sink.until { contents in
            contents.samples(of: "accelerometer").contains {
                isClose($0.values.map(\.number), [0.000598, 0.001196, 0.001794])
            }
        }
        await run.stop()

        #expect(try machine.read("\(folder)/buffer/enable") == "0")
    }
}
