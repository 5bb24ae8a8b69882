import Diagnostics
import Samples
import TestKit
import Testing

@testable import IIOSamplers

@Suite("Polled sensors", .timeLimit(.minutes(5))) struct PollTests {
    @Test("each type of channel has its stream, its unit and its scale")
    func types() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(
            0,
            name: "everything",
            device: "i2c-1/1-0040",
            [
                "in_pressure_raw": "101325", "in_pressure_scale": "0.001", "in_humidityrelative_input": "45500",
                "in_temp_raw": "1200", "in_temp_offset": "-100", "in_temp_scale": "20",
                "in_illuminance_raw": "7056", "in_illuminance_scale": "0.001", "in_voltage0_raw": "1000",
                "in_voltage1_raw": "2000", "in_voltage_scale": "1.5", "in_current_raw": "250", "in_power_raw": "3",
                "in_power_scale": "1000", "in_distance_input": "12.5", "in_intensity_both_raw": "77",
                "in_rot_from_north_magnetic_tilt_comp_raw": "-90", "in_rot_from_north_magnetic_raw": "5",
                "in_activity_walking_input": "80", "in_activity_still_input": "20", "in_strangeness_raw": "-0.5",
            ]
        )

        let readings = try await machine.readings()
        let sampler = try machine.sampler()
        let units = Dictionary(uniqueKeysWithValues: sampler.streams.map { ($0.name.text, $0.fields[0].unit.rawValue) })

        #expect(readings["pressure"] == [1013.25])
        #expect(readings["humidity"] == [45.5])
        #expect(readings["temperature"] == [22])
        #expect(isClose(readings["light"], [7.056]))
        #expect(readings["voltage"] == [1.5, 3])
        #expect(readings["current"] == [0.25])
        #expect(readings["power"] == [3])
        #expect(readings["distance"] == [12.5])
        #expect(readings["heading"] == [270, nil])
        #expect(readings["activity_percent"] == [20, 80])
        #expect(readings["strangeness"] == [-0.5])
        #expect(units["pressure"] == "hPa" && units["temperature"] == "°C" && units["light"] == "lx")
        // Nothing says what one of these is: the number goes on without a unit.
        #expect(units["current"] == "" && units["voltage"] == "V" && units["intensity"] == "")
        let voltage = sampler.streams.first { $0.name.text == "voltage" }
        #expect(voltage?.fields.map(\.name.text) == ["ch0", "ch1"])
    }

    @Test("the offset is added before the scale, the processed value needs neither, Gauss become microtesla")
    func conversion() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(
            0,
            name: "part",
            device: "i2c-1/1-001e",
            [
                "in_magn_x_raw": "300", "in_magn_y_raw": "-200", "in_magn_z_raw": "0", "in_magn_x_scale": "0.001",
                "in_magn_scale": "0.002", "in_magn_z_offset": "-5", "in_illuminance_input": "250",
                "in_illuminance_raw": "9", "in_illuminance_scale": "3", "in_illuminance_offset": "1",
                "in_magn_x_calibbias": "500", "in_magn_x_calibscale": "9",
            ]
        )

        let readings = try await machine.readings()

        #expect(isClose(readings["magnetometer"], [30, -40, -1]))
        #expect(readings["light"] == [250])
    }

    @Test("mount matrices under every name; udev's beats the driver's, the configuration's beats both")
    func matrices() async throws {
        for name in ["in_accel_mount_matrix", "in_mount_matrix", "mount_matrix"] {
            let machine = try FakeMachine()
            try machine.addIIODevice(
                7,
                name: "part",
                device: "i2c-1/1-0018",
                accelerometerFiles(["in_accel_scale": "1", name: "0, 1, 0; -1, 0, 0; 0, 0, 1", "dev": "243:7"])
            )
            #expect(try await machine.readings()["accelerometer"] == [45, 123, nil])

            try machine.write(
                "S:x\nE:ACCEL_MOUNT_MATRIX=-1, 0, 0; 0, -1, 0; 0, 0, 1\nE:Y=1",
                to: "run/udev/data/c243:7"
            )
            #expect(try await machine.readings()["accelerometer"] == [123, -45, nil])

            let configured = try await machine.readings { $0.mountMatrix = "0, 0, 1; 0, 1, 0; 1, 0, 0" }
            #expect(configured["accelerometer"] == [nil, 45, -123])
        }
    }

    @Test("a mount matrix that loses an axis is not used, and told")
    func singularMatrix() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(
            0,
            name: "part",
            device: "a",
            accelerometerFiles(["in_accel_mount_matrix": "0, 1, 0; 0, 1, 0; 0, 0, 1", "in_accel_scale": "0.1"])
        )
        let time = ManualTime()
        let run = Running(try machine.sampler(time: time), time: time)

        await run.sink.until { $0.count == 1 }
        await run.stop()

        #expect(isClose(run.sink.contents.samples(of: "accelerometer")[0].values.map(\.number), [-12.3, 4.5, 1638.4]))
        #expect(run.sink.contents.reports[0].condition.detail?.contains("mount matrix") == true)
    }

    @Test("what no sensor can read is left out and counted, and light beyond the sun is cut")
    func range() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(
            0,
            name: "gyro",
            device: "a",
            [
                "in_anglvel_x_raw": "4294967173", "in_anglvel_y_raw": "10", "in_anglvel_z_raw": "-10",
                "in_anglvel_scale": "0.001", "in_illuminance_input": "4000000", "in_temp_input": "nonsense",
                "in_humidityrelative_input": "99999999999999999999999999",
            ]
        )
        let time = ManualTime()
        let run = Running(try machine.sampler(time: time), time: time)

        await run.sink.until { $0.batches.contains { $0.stream.name.text == "light" } }
        await run.time.untilSleeping()
        await run.stop()

        let contents = run.sink.contents
        #expect(contents.samples(of: "gyroscope")[0].values.map(\.number) == [nil, 0.01, -0.01])
        #expect(contents.samples(of: "light")[0].values == [.real(200_000)])
        #expect(contents.samples(of: "temperature.gyro").isEmpty)
        #expect(contents.samples(of: "humidity").isEmpty)
        #expect(contents.rejects.map(\.stream.text).sorted() == ["gyroscope", "light"])
    }

    @Test("near comes from the driver's level or the configured one, and is unknown without")
    func proximity() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(0, name: "prox", device: "a", ["in_proximity_raw": "150"])

        #expect(try await machine.readings()["proximity"] == [nil, 150])
        #expect(try await machine.readings { $0.nearLevel = 200 }["proximity"] == [0, 150])
        try machine.write("100", to: "\(machine.iio(0))/in_proximity_nearlevel")
        #expect(try await machine.readings()["proximity"] == [1, 150])
    }

    @Test("a step counter is switched on, and its total goes on when the device begins again")
    func steps() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(0, name: "bmi323", device: "a", ["in_steps_en": "0", "in_steps_input": "1000"])
        let time = ManualTime()
        let run = Running(try machine.sampler(time: time), time: time)

        await run.sink.until { $0.count == 1 }
        #expect(try machine.read("\(machine.iio(0))/in_steps_en") == "1")
        await run.time.untilSleeping()
        try machine.write("4", to: "\(machine.iio(0))/in_steps_input")
        await run.advance(by: .milliseconds(100))
        await run.sink.until { $0.count == 2 }
        await run.stop()

        #expect(run.sink.contents.samples(of: "steps").map { $0.values[0] } == [.integer(1000), .integer(1004)])
    }

    @Test("a quaternion of four numbers in one file becomes an attitude")
    func quaternion() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(
            0,
            name: "dev_rotation",
            device: "a",
            ["in_rot_quaternion_raw": "0 0 70710678 70710678", "in_rot_scale": "0.00000001"]
        )

        let attitude = try await machine.readings()["attitude"]

        let half = (0.5).squareRoot()
        #expect(isClose(attitude, [half, 0, 0, half, 0, 0, Double.pi / 2]))
    }

    @Test("a pass each period without drift; factor puts a wrong scale right")
    func keepsTime() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(0, name: "als", device: "a", ["in_illuminance_input": "100"])
        let time = ManualTime()
        let start = time.wall()
        let run = Running(
            try machine.sampler(time: time) {
                $0.every = .milliseconds(10)
                $0.factor = 0.5
            },
            time: time
        )

        await run.sink.until { $0.count == 1 }
        await run.advance(by: .milliseconds(10))
        await run.sink.until { $0.count == 2 }
        await run.advance(by: .milliseconds(25))
        await run.sink.until { $0.count == 3 }
        await run.advance(by: .milliseconds(5))
        await run.sink.until { $0.count == 4 }
        await run.stop()

        let samples = run.sink.contents.samples(of: "light")
        #expect(samples.map { ($0.time - start).inSeconds } == [0, 0.01, 0.035, 0.04])
        #expect(samples.allSatisfy { $0.values == [.real(50)] })
    }

    @Test("a sensor that is unplugged is missing, and goes on under another number when it returns")
    func unplugged() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(0, name: "als", device: "usb1/1-1", ["in_illuminance_input": "100"])
        let time = ManualTime()
        let run = Running(try machine.sampler(time: time) { $0.every = .seconds(1) }, time: time)
        await run.sink.until { $0.count == 1 }
        await run.time.untilSleeping()

        try machine.removeIIODevice(0)
        run.time.advance(by: .seconds(1))
        await run.sink.until { $0.words(of: "light") == ["ok", "missing"] }
        await run.advance(by: .seconds(1))
        await run.time.untilSleeping()
        try machine.addIIODevice(4, name: "als", device: "usb1/1-1", ["in_illuminance_input": "120"])
        run.time.advance(by: .seconds(40))
        await run.sink.until { $0.count == 2 }
        await run.stop()

        #expect(run.sink.contents.words(of: "light") == ["ok", "missing", "ok"])
        #expect(run.sink.contents.samples(of: "light").map { $0.values[0] } == [.real(100), .real(120)])
    }

    @Test("a sensor that is not there yet is waited for when its channels are named")
    func waitedFor() async throws {
        let machine = try FakeMachine()
        let time = ManualTime()
        let sampler = try machine.sampler(time: time) {
            $0.device = "lsm6dsl"
            $0.channels = ["accel"]
            $0.suffix = "lid"
        }
        #expect(sampler.streams.map(\.name.text) == ["accelerometer.lid"])
        #expect(await sampler.readings().map(\.condition.word) == ["missing"])
        let run = Running(sampler, time: time)
        await run.sink.until { $0.words(of: "accelerometer.lid") == ["missing"] }
        await run.time.untilSleeping()

        try machine.addIIODevice(2, name: "lsm6dsl", device: "i2c-1", accelerometerFiles())
        run.time.advance(by: .seconds(40))
        await run.sink.until { $0.count == 1 }
        await run.stop()

        let values = run.sink.contents.samples(of: "accelerometer.lid")[0].values.map(\.number)
        #expect(isClose(values, [-0.073554, 0.02691, 9.797632]))
    }

    @Test("a name that nothing has is told with what there is")
    func noSuchDevice() throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(0, name: "als", device: "a", ["in_illuminance_input": "1", "label": "front"])

        let error = #expect(throws: IIOError.self) { try machine.sampler { $0.device = "nope" } }

        #expect(error?.description.contains("als (front)") == true)
        #expect(error?.description.contains("channels = ") == true)
    }

    @Test("a channel that may not be read is told with the udev rule, and the others go on")
    func noPermission() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(0, name: "part", device: "a", accelerometerFiles())
        try machine.forbid("sys/devices/a/iio:device0/in_accel_y_raw")
        let time = ManualTime()
        let run = Running(try machine.sampler(time: time), time: time)

        await run.sink.until { $0.count == 1 }
        await run.stop()

        #expect(run.sink.contents.words(of: "accelerometer") == ["no-permission"])
        #expect(run.sink.contents.reports[0].condition.detail?.contains("udev") == true)
        #expect(run.sink.contents.samples(of: "accelerometer")[0].values[1] == .missing)
        #expect(run.sink.contents.samples(of: "accelerometer")[0].values[2] != .missing)
    }

    @Test("a failing channel costs itself only, and a scale that cannot be read gives no reading")
    func ownFailure() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(
            0,
            name: "part",
            device: "a",
            ["in_illuminance_raw": "5", "in_illuminance_scale": "broken", "in_pressure_input": "100"]
        )
        // Reading a folder fails as a driver may fail.
        try machine.write("x", to: "sys/devices/a/iio:device0/in_temp_input/file")
        let time = ManualTime()
        let run = Running(try machine.sampler(time: time), time: time)

        await run.sink.until { $0.count == 1 && $0.reports.count == 3 }
        await run.stop()

        #expect(run.sink.contents.words(of: "pressure") == ["ok"])
        #expect(run.sink.contents.words(of: "light") == ["error"])
        #expect(run.sink.contents.words(of: "temperature") == ["error"])
    }

    @Test("devices are told apart by label or name, the first has the plain name, whatever their numbers are")
    func naming() throws {
        for numbers in [[0, 1, 2], [2, 0, 1]] {
            let machine = try FakeMachine()
            try machine.addIIODevice(
                numbers[0],
                name: "bma400",
                device: "i2c-1/1-0014",
                accelerometerFiles(["label": "accel-display", "in_temp_input": "1"])
            )
            try machine.addIIODevice(
                numbers[1],
                name: "bma400",
                device: "i2c-2/2-0014",
                accelerometerFiles(["label": "accel-base"])
            )
            try machine.addIIODevice(numbers[2], name: "tmp117", device: "i2c-3", ["in_temp_input": "21000"])

            let sampler = try machine.sampler()

            #expect(
                sampler.streams.map(\.name.text) == [
                    "accelerometer", "accelerometer.display", "temperature.display", "temperature",
                ]
            )
            #expect(try machine.sampler { $0.device = "accel-display" }.streams.count == 2)
            #expect(try machine.sampler { $0.device = "2-0014" }.streams.map(\.name.text) == ["accelerometer"])
            #expect(try machine.sampler { $0.channels = ["temperature"] }.streams.count == 2)
            #expect(
                IIODescription.all(root: machine.root).map(\.channels) == [["accel"], ["accel", "temp"], ["temp"]]
            )
        }
    }

    @Test("a folder full of nonsense is no trouble")
    func nonsense() async throws {
        let machine = try FakeMachine()
        try machine.addIIODevice(0, name: "empty", device: "a", [:])
        try machine.addIIODevice(1, name: "", device: "b", ["in_temp_raw": "1"])
        try machine.addIIODevice(
            2,
            name: "\"; drop table ../../x",
            device: "c",
            [
                "in_voltage0_raw": "1", "in_\(String(repeating: "z", count: 200))_raw": "3", "in_é_raw": "4",
                "scan_elements/in_voltage0_index": "99999999999999999999",
                "scan_elements/in_voltage0_type": "le:s16/16",
                "in_voltage_offset": "1e400", "in_voltage_scale": "-",
            ]
        )
        for number in 0..<100 { try machine.write("1", to: "sys/devices/c/iio:device2/in_power\(number)_raw") }

        let sampler = try machine.sampler()

        #expect(sampler.streams.allSatisfy { $0.fields.count <= 64 && Name($0.name.text) != nil })
        #expect(sampler.streams.contains { $0.name.text == "power" && $0.fields.count == 64 })
        _ = await sampler.readings()
    }
}
