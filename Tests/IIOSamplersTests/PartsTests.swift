import Diagnostics
import KernelFiles
import Samples
import Testing

@testable import IIOSamplers

@Suite("Parts of the Industrial I/O sampler") struct PartsTests {
    @Test(
        "names of channels are taken apart",
        arguments: [
            ("in_accel_x_raw", "accel", "x"), ("in_temp_raw", "temp", ""), ("in_temp_object_raw", "temp", "object"),
            ("in_voltage0-voltage1_raw", "voltage", "0-voltage1"), ("in_illuminance0_input", "illuminance", "0"),
            ("in_humidityrelative_input", "humidityrelative", ""), ("in_rot_quaternion_raw", "rot", "quaternion"),
            ("in_frobnication7_raw", "frobnication", "7"), ("in_deltaangl_x_raw", "deltaangl", "x"),
        ]
    )
    func names(_ file: String, _ type: String, _ modifier: String) throws {
        let name = try #require(ChannelName(valueFile: file))

        #expect(name.type == type)
        #expect(name.modifier == modifier)
    }

    @Test(
        "what is no reading is no channel",
        arguments: [
            "in_accel_scale", "in_accel_x_calibbias", "out_voltage0_raw", "in_temp_mean_raw", "name", "in__raw",
            "in_raw",
            "in_accel_x_raw_available", "in_proximity_nearlevel", "in_0_raw",
        ]
    )
    func noChannels(_ file: String) {
        #expect(ChannelName(valueFile: file) == nil)
    }

    @Test("a channel's own attribute comes before the one of its type")
    func attributes() {
        #expect(
            ChannelName(base: "accel_x")?.files("scale") == ["in_accel_x_scale", "in_accel_scale", "scale"]
        )
        #expect(
            ChannelName(base: "voltage0-voltage1")?.files("scale") == [
                "in_voltage0-voltage1_scale", "in_voltage-voltage_scale", "in_voltage_scale", "scale",
            ]
        )
    }

    @Test("a matrix is row times vector")
    func matrix() throws {
        let matrix = try #require(MountMatrix("0, -1, 0; 1, 0, 0; 0, 0, 1"))

        let (x, y, z) = matrix.apply(1, 2, 3)

        #expect([x, y, z] == [-2, 1, 3])
        #expect(MountMatrix("1, 0, 0; 0, 1, 0; 0, 0, 1") == .identity)
        #expect(MountMatrix("1,0,0;0,1,0;0,0,1") == .identity)
        #expect(MountMatrix("0.7071, -0.7071, 0; 0.7071, 0.7071, 0; 0, 0, -1") != nil)
    }

    @Test(
        "a matrix that loses an axis, and what is none, are refused",
        arguments: [
            "0, 1, 0; 0, 1, 0; 0, 0, 1", "0, 0, 0; 0, 1, 0; 0, 0, 1", "0, 0, 0; 0, 0, 0; 0, 0, 0", "", "1, 0; 0, 1",
            "1, 0, 0; 0, 1, 0; 0, 0", "a, 0, 0; 0, 1, 0; 0, 0, 1", "nan, 0, 0; 0, 1, 0; 0, 0, 1",
            "1e300, 0, 0; 0, 1e300, 0; 0, 0, 1", "1, 0, 0; 0, 1, 0; 0, 0, 1; 0, 0, 1", "1 2 3 4 5 6 7 8 9",
        ]
    )
    func badMatrices(_ text: String) {
        #expect(MountMatrix(text) == nil)
    }

    @Test("the slowest rate that is fast enough is chosen, else the fastest, in the driver's own words")
    func rates() throws {
        let list = try #require(AvailableRates("12.500000 26.000000 52.000000 104.000000"))
        let range = try #require(AvailableRates("[10 5 400]"))

        #expect(list.text(for: 26) == "26.000000")
        #expect(list.text(for: 50) == "52.000000")
        #expect(list.text(for: 1) == "12.500000")
        #expect(list.text(for: 1000) == "104.000000")
        #expect(range.text(for: 12) == "15")
        #expect(range.text(for: 15) == "15")
        #expect(range.text(for: 1) == "10")
        #expect(range.text(for: 1000) == "400")
        #expect(AvailableRates("ERROR") == nil)
        #expect(AvailableRates("[3 2]") == nil)
        #expect(AvailableRates("[9 1 3]") == nil)
        #expect(decimal(104) == "104")
        #expect(decimal(-0.5) == "-0.5")
        #expect(decimal(12.625) == "12.625")
        #expect(decimal(.nan) == "0")
    }

    @Test("near and far have a gap between them")
    func near() throws {
        var near = try #require(NearSwitch(level: 100))

        #expect(
            [50, 105, 111, 95, 90, 89, 109].map { near.isNear($0) } == [false, false, true, true, true, false, false]
        )
        var first = try #require(NearSwitch(level: 100))
        #expect(first.isNear(100) == true)
        #expect(NearSwitch(level: 0) == nil)
        #expect(NearSwitch(level: .nan) == nil)
    }

    @Test("a step counter that begins again does not take steps away")
    func steps() {
        var total = StepTotal()

        #expect([100, 150, 3, 10, 0, .max].map { total.total($0) } == [100, 150, 153, 160, 160, .max])
    }

    @Test("a quaternion becomes roll, pitch and yaw")
    func angles() {
        let half = (0.5).squareRoot()
        let yaw = EulerAngles(w: half, x: 0, y: 0, z: half)
        let pitch = EulerAngles(w: half, x: 0, y: half, z: 0)
        let roll = EulerAngles(w: half, x: half, y: 0, z: 0)

        #expect(isClose([yaw.roll, yaw.pitch, yaw.yaw], [0, 0, Double.pi / 2]))
        #expect(isClose([pitch.pitch], [Double.pi / 2]))
        #expect(isClose([roll.roll, roll.pitch, roll.yaw], [Double.pi / 2, 0, 0]))
    }

    @Test("scans that are missing are counted, whatever the sensor's rate really is")
    func gaps() {
        var meter = GapMeter(hertz: 100)
        var time: Int64 = 0
        func step(_ milliseconds: Double) -> Int {
            time += Int64(milliseconds * 1e6)
            return meter.lost(before: time)
        }
        for _ in 0..<100 { #expect(step(9.6) == 0) }
        #expect(step(19.2) == 1)
        #expect(step(96) == 9)
        #expect(step(9.6) == 0)
        #expect(step(-500) == 0)
        // Half as fast as it says: soon that is no gap any more.
        var slow = GapMeter(hertz: 100)
        let lost = (0..<200).reduce(0) { $0 + slow.lost(before: Int64($1) * 20_000_000) }
        #expect(lost <= 16)
        // Without a rate it is learned.
        var unknown = GapMeter(hertz: nil)
        for number in 0..<50 { #expect(unknown.lost(before: Int64(number) * 5_000_000) == 0) }
        #expect(unknown.lost(before: 51 * 5_000_000) == 1)
        #expect(unknown.lost(before: .max) > 0)
    }

    @Test("times of the boot clock follow a step of the wall clock and not its noise")
    func bootClock() {
        var clock = ScanClock(.boot, hertz: 100)
        let boot = BootInstant(nanoseconds: 1_000_000_000)
        let second: Int64 = 1_000_000_000

        let first = clock.times(
            [900_000_000, 1_000_000_000],
            count: 2,
            wall: Timestamp(nanoseconds: 50 * second),
            boot: boot
        )
        let noise = clock.times(
            [1_100_000_000],
            count: 1,
            wall: Timestamp(nanoseconds: 50 * second + 105_000_000),
            boot: boot.advanced(by: .milliseconds(100))
        )
        let step = clock.times(
            [1_200_000_000],
            count: 1,
            wall: Timestamp(nanoseconds: 90 * second),
            boot: boot.advanced(by: .milliseconds(200))
        )

        #expect(first.times.map(\.nanoseconds) == [49_900_000_000, 50_000_000_000])
        #expect(noise.times.map(\.nanoseconds) == [50_100_000_000])
        #expect(step.times.map(\.nanoseconds) == [90_000_000_000])
    }

    @Test("scans without a time are spread over the time since the last ones")
    func spread() {
        var clock = ScanClock(.none, hertz: 100)
        let boot = BootInstant(nanoseconds: 0)

        let first = clock.times([], count: 3, wall: Timestamp(nanoseconds: 1_000_000_000), boot: boot)
        let second = clock.times([], count: 4, wall: Timestamp(nanoseconds: 1_020_000_000), boot: boot)

        #expect(first.times.map(\.nanoseconds) == [980_000_000, 990_000_000, 1_000_000_000])
        #expect(second.times.map(\.nanoseconds) == [1_005_000_000, 1_010_000_000, 1_015_000_000, 1_020_000_000])
        #expect(second.lost == 0)
    }

    @Test("at rest an accelerometer feels gravity, or it is told once")
    func restCheck() {
        func check(_ z: Double, noise: Double = 0.02) -> [String] {
            var check = RestCheck()
            return (0..<500).compactMap { number in
                check.look(at: [.real(0), .real(0), .real(z + (number % 2 == 0 ? noise : -noise))])
            }
        }
        #expect(check(9.81).isEmpty)
        #expect(check(0.981).count == 1)
        #expect(check(1000).first?.contains("gravity") == true)
        #expect(check(20, noise: 15).isEmpty)
    }

    @Test("light that never changes is told once, and darkness is not")
    func stuckCheck() {
        func check(_ lux: Double) -> Int {
            var check = StuckCheck()
            return (0..<4000).count { second in
                check.look(at: lux, time: Timestamp(nanoseconds: Int64(second) * 1_000_000_000)) != nil
            }
        }
        #expect(check(400) == 1)
        #expect(check(0) == 0)
    }

    @Test("each failure is told with its remedy")
    func failures() {
        #expect(KernelFailure(16) == .busy)
        let busy = IIOError(.busy, "/dev/iio:device0")
        let denied = IIOError(.noPermission, "/dev/iio:device0")
        let gone = IIOError(.gone, "/dev/iio:device0")

        #expect(busy.condition.word == "error" && busy.description.contains("iio-sensor-proxy"))
        #expect(denied.condition.word == "no-permission" && denied.description.contains("SUBSYSTEM==\"iio\""))
        #expect(gone.condition.word == "missing")
        #expect(IIOError(.other(22), "x").description.contains("Invalid argument"))
    }
}
