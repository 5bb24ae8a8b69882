import Diagnostics
import Samples
import TestKit
import Testing

@testable import HostSamplers

@Suite("Rates of network and disks") struct RateTests {
    @Test("the first reading is no reading; then bytes a second, without lo")
    func network() async throws {
        let machine = try FakeMachine()
        try machine.setNetwork([("eth0", 1000, 500), ("wlan0.7", 0, 0)])
        let bench = Bench(machine)

        #expect(bench.names == ["host.network.eth0", "host.network.wlan0.7"])
        #expect(await bench.pass("host.network.eth0") == nil)
        try machine.setNetwork([("eth0", 3000, 501), ("wlan0.7", 0, 0)])
        #expect(await bench.pass("host.network.eth0") == [1000, 0.5])
        #expect(await bench.pass("host.network.wlan0.7") == [0, 0])
        #expect(bench.fields("host.network.eth0") == ["received B/s", "sent B/s"])
    }

    @Test("disks count sectors of 512 bytes; partitions, loop and memory devices are left out")
    func disks() async throws {
        let machine = try FakeMachine()
        func set(_ sectors: UInt64) throws {
            try machine.setDisks([
                ("mmcblk0", true, sectors, sectors * 2), ("mmcblk0p1", false, 1, 1), ("loop0", true, 1, 1),
                ("ram0", true, 1, 1), ("zram0", true, 1, 1), ("sda", true, 0, 0),
            ])
        }
        try set(100)
        let bench = Bench(machine)

        #expect(bench.names == ["host.disk.mmcblk0", "host.disk.sda"])
        #expect(await bench.pass("host.disk.mmcblk0") == nil)
        try set(104)
        #expect(await bench.pass("host.disk.mmcblk0") == [1024, 2048])
    }

    @Test("a counter that wraps at 32 bits goes on; one that began again gives no reading")
    func wrapsAndResets() {
        var meter = RateMeter()
        #expect(meter.rate(of: 4_294_967_000, seconds: 2) == nil)
        #expect(meter.rate(of: 704, seconds: 2) == 500)
        #expect(meter.rate(of: 1_000_000_704, seconds: 1) == 1_000_000_000)
        // A fall that no gigabit link explains: the driver was loaded again.
        #expect(meter.rate(of: 10, seconds: 2) == nil)
        #expect(meter.rate(of: 30, seconds: 2) == 10)
        #expect(meter.rate(of: 1 << 40, seconds: 1) != nil)
        #expect(meter.rate(of: 5, seconds: 2) == nil)
        #expect(meter.rate(of: UInt64.max, seconds: 2) != nil)
        #expect(meter.rate(of: 0, seconds: 2) == nil)
        #expect(meter.rate(of: 10, seconds: 0) == nil)
    }

    @Test("an interface that vanishes is missing, and ok when it returns, without a false rate")
    func hotplug() async throws {
        let machine = try FakeMachine()
        try machine.setNetwork([("eth0", 0, 0), ("usb0", 5000, 0)])
        let bench = Bench(machine)
        _ = await bench.pass("host.network.usb0")

        try machine.setNetwork([("eth0", 2, 0)])
        #expect(await bench.pass("host.network.usb0") == nil)
        #expect(await bench.pass("host.network.usb0") == nil)
        try machine.setNetwork([("usb0", 6000, 0), ("eth0", 2, 0)])
        #expect(await bench.pass("host.network.usb0") == nil)
        try machine.setNetwork([("usb0", 6002, 0), ("eth0", 2, 0)])
        #expect(await bench.pass("host.network.usb0") == [1, 0])

        #expect(bench.words("host.network.usb0") == ["ok", "missing", "ok"])
        #expect(bench.words("host.network.eth0") == ["ok"])
    }

    @Test("interfaces whose names map to the same name are told apart")
    func sameNames() throws {
        let machine = try FakeMachine()
        try machine.setNetwork([("Eth0", 0, 0), ("eth0", 0, 0), ("wg-home", 0, 0)])

        #expect(Bench(machine).names == ["host.network.eth0", "host.network.eth0_2", "host.network.wg_home"])
    }

    @Test("a garbled line costs itself only")
    func garbledLine() async throws {
        let machine = try FakeMachine()
        try machine.setNetwork([("eth0", 0, 0), ("wlan0", 0, 0)])
        let bench = Bench(machine)
        _ = await bench.pass("host.network.wlan0")

        try machine.write("eth0: what\nnothing at all\n:\nwlan0: 8 1 1 1 1 1 1 1 4 1", to: "proc/net/dev")

        #expect(await bench.pass("host.network.wlan0") == [4, 2])
        #expect(bench.words("host.network.eth0") == ["ok", "error"])
    }

    @Test("when a new run begins, the first rates are no readings again")
    func beginsAnew() async throws {
        let machine = try FakeMachine()
        try machine.setNetwork([("eth0", 0, 0)])
        try machine.setCores([(0, 0)])
        let bench = Bench(machine)
        _ = await bench.pass("host.network.eth0")
        try machine.setNetwork([("eth0", 1_000_000, 0)])
        try machine.setCores([(10, 10)])

        await bench.reader.begin()

        #expect(await bench.pass("host.network.eth0") == nil)
        #expect(bench.sink.contents.samples(of: "host.cpu").isEmpty)
        #expect(bench.words("host.network.eth0") == ["ok", "ok"])
    }
}
