import Diagnostics
import Samples
import TestKit
import Testing

@testable import HostSamplers

@Suite("Brightness of screens") struct BacklightTests {
    private func screen(_ machine: FakeMachine, _ name: String, _ files: [String: String]) throws {
        for (file, text) in files { try machine.write(text, to: "sys/class/backlight/\(name)/\(file)") }
    }

    @Test("a screen is the part of its most, and 0 while it is off")
    func part() async throws {
        let machine = try FakeMachine()
        try screen(machine, "rpi_backlight", ["brightness": "51", "max_brightness": "255", "bl_power": "0"])
        let bench = Bench(machine)

        #expect(bench.names == ["screen"])
        #expect(bench.fields("screen") == ["brightness "])
        #expect(await bench.pass("screen") == [0.2])
        try machine.write("300", to: "sys/class/backlight/rpi_backlight/brightness")
        #expect(await bench.pass("screen") == [1])
        try machine.write("4", to: "sys/class/backlight/rpi_backlight/bl_power")
        #expect(await bench.pass("screen") == [0])
    }

    @Test("of several controls the firmware's is the screen, the others have their names")
    func several() async throws {
        let machine = try FakeMachine()
        try screen(machine, "amdgpu_bl0", ["brightness": "1", "max_brightness": "4", "type": "raw"])
        try screen(machine, "x.y", ["brightness": "2", "max_brightness": "4", "type": "raw"])
        try screen(machine, "thinkpad_screen", ["brightness": "3", "max_brightness": "4", "type": "firmware"])
        try screen(machine, "broken", ["max_brightness": "4"])
        let bench = Bench(machine)

        #expect(bench.names == ["screen", "screen.amdgpu_bl0", "screen.x_y"])
        #expect(await bench.pass("screen") == [0.75])
        #expect(await bench.pass("screen.amdgpu_bl0") == [0.25])
    }

    @Test("a driver that does not say the most, or that goes away, is told")
    func faults() async throws {
        let machine = try FakeMachine()
        try screen(machine, "a", ["brightness": "1", "max_brightness": "0"])
        let bench = Bench(machine)

        #expect(await bench.pass("screen") == nil)
        #expect(bench.words("screen") == ["error"])
        try machine.remove("sys/class/backlight/a")
        #expect(await bench.pass("screen") == nil)
        #expect(bench.words("screen") == ["error", "missing"])
        try screen(machine, "a", ["brightness": "1", "max_brightness": "2"])
        #expect(await bench.pass("screen") == [0.5])
    }

    @Test("frequencies of a chip are Hertz")
    func frequencies() async throws {
        let machine = try FakeMachine()
        try machine.addChip(0, name: "amdgpu", device: "pci/1", ["freq1_input": "214000000", "freq1_label": "sclk"])
        let bench = Bench(machine)

        #expect(bench.fields("host.hwmon.amdgpu") == ["sclk Hz"])
        #expect(await bench.pass("host.hwmon.amdgpu") == [214_000_000])
    }
}
