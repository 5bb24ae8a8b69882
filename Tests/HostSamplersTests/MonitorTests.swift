import Diagnostics
import Samples
import TestKit
import Testing

@testable import HostSamplers

@Suite("Thermal zones and hardware monitors") struct MonitorTests {
    @Test("zones are called by their type, the second of a type has a number")
    func zones() async throws {
        let machine = try FakeMachine()
        try machine.setThermalZone(0, kind: "cpu-thermal", "48312")
        try machine.setThermalZone(10, kind: "acpitz", "30000")
        try machine.setThermalZone(2, kind: "acpitz", "-1500")
        let bench = Bench(machine)

        #expect(bench.names == ["host.thermal.cpu_thermal", "host.thermal.acpitz", "host.thermal.acpitz_2"])
        #expect(await bench.pass("host.thermal.cpu_thermal") == [48.312])
        #expect(await bench.pass("host.thermal.acpitz") == [-1.5])
        #expect(await bench.pass("host.thermal.acpitz_2") == [30])
        #expect(bench.fields("host.thermal.acpitz") == ["temperature °C"])
    }

    @Test("a driver that gives whole degrees is understood, until it shows thousandths")
    func wholeDegrees() async throws {
        let machine = try FakeMachine()
        try machine.setThermalZone(0, kind: "odd", "45")
        let bench = Bench(machine)

        #expect(await bench.pass("host.thermal.odd") == [45])
        try machine.setThermalZone(0, kind: "odd", "1200")
        #expect(await bench.pass("host.thermal.odd") == [1.2])
        try machine.setThermalZone(0, kind: "odd", "125")
        #expect(await bench.pass("host.thermal.odd") == [0.125])
    }

    @Test("what stands for `not there` is no temperature", arguments: ["0", "-40000", "-273000", "255000", "", "n/a"])
    func sentinels(_ text: String) async throws {
        let machine = try FakeMachine()
        try machine.setThermalZone(0, kind: "soc", text)
        let bench = Bench(machine)

        #expect(await bench.pass("host.thermal.soc") == nil)
        #expect(bench.words("host.thermal.soc") == ["missing"])
        try machine.setThermalZone(0, kind: "soc", "41000")
        #expect(await bench.pass("host.thermal.soc") == [41])
        #expect(bench.words("host.thermal.soc") == ["missing", "ok"])
    }

    private func chip(_ machine: FakeMachine, _ number: Int, device: String = "platform/it87") throws {
        try machine.addChip(
            number,
            name: "it8728",
            device: device,
            [
                "temp1_input": "48500", "temp1_label": "CPU Temp", "temp2_input": "31000", "temp2_fault": "1",
                "temp10_input": "20000", "temp1_crit": "100000", "in0_input": "1104", "in0_label": "+3.3V",
                "in1_input": "12000", "fan1_input": "1350", "fan1_label": "CPU Temp", "curr1_input": "2500",
                "power1_average": "15250000", "energy1_input": "7000000", "humidity1_input": "45500", "pwm1": "128",
                "uevent": "", "temp3_label": "nothing",
            ]
        )
    }

    @Test("every kind of channel has its SI unit and scale; labels become names")
    func channels() async throws {
        let machine = try FakeMachine()
        try chip(machine, 3)
        let bench = Bench(machine)

        #expect(bench.names == ["host.hwmon.it8728"])
        #expect(
            bench.fields("host.hwmon.it8728") == [
                "cpu_temp °C", "temp2 °C", "temp10 °C", "in_3_3v V", "in1 V", "cpu_temp_2 rpm", "curr1 A", "power1 W",
                "energy1 J", "humidity1 %",
            ]
        )
        let values = await bench.pass("host.hwmon.it8728")
        #expect(values == [48.5, nil, 20, 1.104, 12, 1350, 2.5, 15.25, 7, 45.5])
        try machine.write("0", to: "sys/class/hwmon/hwmon3/temp2_fault")
        #expect(await bench.pass("host.hwmon.it8728")?[1] == 31)
    }

    @Test("chips keep their names whatever their numbers are: they are known by device")
    func numbersChange() async throws {
        func machine(_ numbers: [Int]) throws -> FakeMachine {
            let machine = try FakeMachine()
            try machine.addChip(numbers[0], name: "nvme", device: "pci/0000:01", ["temp1_input": "41000"])
            try machine.addChip(numbers[1], name: "nvme", device: "pci/0000:02", ["temp1_input": "42000"])
            return machine
        }
        for numbers in [[0, 1], [1, 0], [7, 3]] {
            let bench = Bench(try machine(numbers))
            #expect(bench.names == ["host.hwmon.nvme", "host.hwmon.nvme_2"])
            #expect(await bench.pass("host.hwmon.nvme") == [41])
            #expect(await bench.pass("host.hwmon.nvme_2") == [42])
        }
    }

    @Test("a chip that vanishes is missing, and ok when it returns under another number")
    func hotplug() async throws {
        let machine = try FakeMachine()
        try chip(machine, 3)
        try machine.addChip(4, name: "other", device: "platform/other", ["fan1_input": "900"])
        let bench = Bench(machine)
        _ = await bench.pass("host.hwmon.it8728")

        try machine.remove("sys/class/hwmon/hwmon3")
        #expect(await bench.pass("host.hwmon.it8728") == nil)
        #expect(await bench.pass("host.hwmon.other") == [900])
        try chip(machine, 9, device: "platform/it87")
        #expect(await bench.pass("host.hwmon.it8728")?[0] == 48.5)

        #expect(bench.words("host.hwmon.it8728") == ["ok", "missing", "ok"])
        #expect(bench.words("host.hwmon.other") == ["ok"])
    }

    @Test("a chip that is plugged in elsewhere is taken up by its name")
    func pluggedElsewhere() async throws {
        let machine = try FakeMachine()
        try chip(machine, 3, device: "usb1/port1")
        let bench = Bench(machine)
        _ = await bench.pass("host.hwmon.it8728")

        try machine.remove("sys/class/hwmon/hwmon3")
        _ = await bench.pass("host.hwmon.it8728")
        try chip(machine, 3, device: "usb1/port2")

        #expect(await bench.pass("host.hwmon.it8728")?[0] == 48.5)
    }

    @Test("a zone that vanishes is missing, and ok when it returns under another number")
    func zoneHotplug() async throws {
        let machine = try FakeMachine()
        try machine.setThermalZone(0, kind: "wifi", "50000")
        let bench = Bench(machine)
        _ = await bench.pass("host.thermal.wifi")

        try machine.remove("sys/class/thermal/thermal_zone0")
        #expect(await bench.pass("host.thermal.wifi") == nil)
        try machine.setThermalZone(5, kind: "wifi", "51000")
        #expect(await bench.pass("host.thermal.wifi") == [51])

        #expect(bench.words("host.thermal.wifi") == ["ok", "missing", "ok"])
    }

    @Test("a channel that may not be read is told, and the others go on")
    func forbiddenChannel() async throws {
        let machine = try FakeMachine()
        try machine.addChip(
            0,
            name: "rapl",
            device: "platform/rapl",
            ["energy1_input": "1", "temp1_input": "50000"]
        )
        try machine.forbid("sys/class/hwmon/hwmon0/energy1_input")
        let bench = Bench(machine)

        #expect(await bench.pass("host.hwmon.rapl") == [50, nil])
        #expect(bench.words("host.hwmon.rapl") == ["no-permission"])
        #expect(bench.sink.contents.reports.last?.condition.detail?.contains("energy1_input") == true)
    }

    @Test("a chip with no channel, and one with too many, are no trouble")
    func oddChips() throws {
        let machine = try FakeMachine()
        try machine.addChip(0, name: "empty", device: "a", ["pwm1": "1", "temp_input": "1", "tempx_input": "1"])
        try machine.addChip(
            1,
            name: "many",
            device: "b",
            Dictionary((0..<80).map { ("temp\($0)_input", "1000") }, uniquingKeysWith: { first, _ in first })
        )
        let bench = Bench(machine)

        #expect(bench.names == ["host.hwmon.many"])
        #expect(bench.reader.streams[0].fields.count == 64)
    }
}
