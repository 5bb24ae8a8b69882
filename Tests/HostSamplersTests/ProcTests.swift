import Diagnostics
import Samples
import TestKit
import Testing

@testable import HostSamplers

@Suite("Files of /proc") struct ProcTests {
    @Test("load and uptime are read as they stand")
    func loadAndUptime() async throws {
        let machine = try FakeMachine()
        try machine.write("0.52 1.25 12.00 3/512 4711", to: "proc/loadavg")
        try machine.write("1089.77 2110.22", to: "proc/uptime")
        let bench = Bench(machine)

        #expect(await bench.pass("host.load") == [0.52, 1.25, 12])
        try machine.write("1091.80 2113.00", to: "proc/uptime")
        #expect(await bench.pass("host.uptime") == [1091.8])

        #expect(bench.fields("host.load") == ["one_minute ", "five_minutes ", "fifteen_minutes "])
        #expect(bench.fields("host.uptime") == ["seconds s"])
        #expect(bench.words("host.load") == ["ok"])
    }

    @Test("absent files are absent streams")
    func absentFiles() async throws {
        let bench = Bench(try FakeMachine())

        #expect(bench.names.isEmpty)
        _ = await bench.pass("host.load")
        #expect(bench.sink.contents.batches.isEmpty)
    }

    @Test("memory and swap are bytes; used is what is not available")
    func memory() async throws {
        let machine = try FakeMachine()
        try machine.write(
            """
            MemTotal:        1000 kB
            MemFree:          100 kB
            MemAvailable:     400 kB
            Buffers:           10 kB
            Cached:           200 kB
            SwapCached:         7 kB
            SwapTotal:        500 kB
            SwapFree:         450 kB
            Dirty:              0 kB
            """,
            to: "proc/meminfo"
        )
        let bench = Bench(machine)

        #expect(await bench.pass("host.memory") == [600 * 1024, 400 * 1024, 1000 * 1024])
        #expect(await bench.pass("host.swap") == [50 * 1024, 500 * 1024])
        #expect(bench.fields("host.memory") == ["used B", "available B", "total B"])
        #expect(bench.fields("host.swap") == ["used B", "total B"])
    }

    @Test("an old kernel without MemAvailable gets an estimate, and one without swap has no swap stream")
    func oldKernel() async throws {
        let machine = try FakeMachine()
        try machine.write("MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 10 kB\nCached: 200 kB", to: "proc/meminfo")
        let bench = Bench(machine)

        #expect(await bench.pass("host.memory") == [690 * 1024, 310 * 1024, 1000 * 1024])
        #expect(bench.names == ["host.memory"])
    }

    @Test("the first reading of the processors is no reading; then each core and the total are percent")
    func processors() async throws {
        let machine = try FakeMachine()
        try machine.setCores([(100, 1000), (500, 500)])
        let bench = Bench(machine)

        #expect(await bench.pass("host.cpu") == nil)
        try machine.setCores([(150, 1150), (700, 500)])
        #expect(await bench.pass("host.cpu") == [62.5, 25, 100])
        // Nothing moved: there is nothing to divide by.
        #expect(await bench.pass("host.cpu") == nil)
        #expect(bench.fields("host.cpu") == ["total %", "core0 %", "core1 %"])
    }

    @Test("a core that is switched off is missing, and its first reading after that is none")
    func coreOff() async throws {
        let machine = try FakeMachine()
        try machine.setCores([(0, 0), (0, 0)])
        let bench = Bench(machine)
        _ = await bench.pass("host.cpu")

        try machine.setCores([(50, 50)])
        #expect(await bench.pass("host.cpu") == [50, 50, nil])
        try machine.setCores([(100, 100), (10, 10)])
        #expect(await bench.pass("host.cpu")?.last == .some(nil))
        try machine.setCores([(150, 150), (20, 50)])
        #expect(await bench.pass("host.cpu")?.last == 20)
    }

    @Test("iowait that goes back a little does not make the load negative or above 100")
    func idleGoesBack() async throws {
        let machine = try FakeMachine()
        try machine.setCores([(100, 1000)])
        let bench = Bench(machine)
        _ = await bench.pass("host.cpu")

        try machine.setCores([(110, 998)])

        #expect(await bench.pass("host.cpu") == [100, 100])
    }

    @Test("a machine of 128 cores keeps within the fields of a stream")
    func manyCores() throws {
        let machine = try FakeMachine()
        try machine.setCores(Array(repeating: (1, 1), count: 128))

        #expect(Bench(machine).reader.streams[0].fields.count == 64)
    }

    @Test("a file that may not be read is no-permission, with the file and the remedy")
    func noPermission() async throws {
        let machine = try FakeMachine()
        try machine.forbid("proc/loadavg")
        let bench = Bench(machine)

        #expect(await bench.pass("host.load") == nil)

        #expect(bench.words("host.load") == ["no-permission"])
        let detail = bench.sink.contents.reports.first?.condition.detail ?? ""
        #expect(detail.contains("proc/loadavg"))
        #expect(detail.contains("udev rule"))
    }

    @Test("a file of more than one buffer is read whole")
    func longFile() async throws {
        let machine = try FakeMachine()
        let many = (0..<40).map { (name: "veth\($0)", received: UInt64.max - 5, sent: UInt64($0)) }
        try machine.setNetwork(many + [("eth0", 0, 0)])
        try machine.write(String(repeating: "x", count: 50_000) + "\nMemTotal: 4 kB", to: "proc/meminfo")
        let bench = Bench(machine)

        #expect(bench.names.contains("host.network.eth0"))
        _ = await bench.pass("host.network.eth0")
        try machine.setNetwork(many + [("eth0", 2, 4)])
        #expect(await bench.pass("host.network.eth0") == [1, 2])
        #expect(bench.sink.contents.samples(of: "host.memory").last?.values[2].number == 4096)
    }
}
