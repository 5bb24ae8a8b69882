import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import HostSamplers

@Suite("Host sampler", .timeLimit(.minutes(5))) struct HostSamplerTests {
    @Test("reads at once, then every `every` without drift, and ends when cancelled")
    func keepsTime() async throws {
        let machine = try FakeMachine()
        try machine.write("1 2 3 1/1 1", to: "proc/loadavg")
        let time = ManualTime()
        let start = time.wall()
        let sampler = HostSampler(every: .seconds(2), proc: machine.proc, sys: machine.sys, time: time)
        let sink = CollectingSink()
        let task = Task { try await sampler.run(into: sink) }

        await sink.until { $0.count == 1 }
        await time.untilSleeping()
        time.advance(by: .seconds(2))
        await sink.until { $0.count == 2 }
        await time.untilSleeping()
        // Late by more than a period: the missed pass is left out and the rhythm stays.
        time.advance(by: .milliseconds(5_500))
        await sink.until { $0.count == 3 }
        await time.untilSleeping()
        time.advance(by: .milliseconds(500))
        await sink.until { $0.count == 4 }
        await time.untilSleeping()
        task.cancel()
        let outcome = await task.result

        let offsets = sink.contents.batches.map { ($0.times[0] - start).inSeconds }
        #expect(offsets == [0, 2, 7.5, 8])
        #expect(throws: CancellationError.self) { try outcome.get() }
    }

    @Test("shows every stream with rates, and what has gone as missing")
    func showsReadings() async throws {
        let machine = try FakeMachine()
        try machine.setNetwork([("eth0", 0, 0)])
        try machine.setThermalZone(0, kind: "soc", "50000")
        let time = ManualTime()
        let sampler = HostSampler(proc: machine.proc, sys: machine.sys, time: time)
        try machine.remove("sys/class/thermal/thermal_zone0")

        async let found = sampler.readings()
        await time.untilSleeping()
        try machine.setNetwork([("eth0", 250, 0)])
        time.advance(by: .milliseconds(250))
        let readings = await found

        #expect(readings.map(\.stream.name.text) == ["host.network.eth0", "host.thermal.soc"])
        #expect(readings.map(\.condition.word) == ["ok", "missing"])
        #expect(readings[0].values == [.real(1000), .real(0)])
    }

    @Test("on this very machine the values are those that a person reads there")
    func realMachine() async throws {
        func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        func kibibytes(_ key: String) throws -> Double {
            let line = try text("/proc/meminfo").split(separator: "\n").first { $0.hasPrefix("\(key):") }
            return Double(line?.split(separator: " ")[1] ?? "") ?? 0
        }
        let uptimeBefore = Double(try text("/proc/uptime").split(separator: " ")[0]) ?? 0

        let readings = await HostSampler().readings()

        let uptimeAfter = Double(try text("/proc/uptime").split(separator: " ")[0]) ?? 0
        let byName = Dictionary(readings.map { ($0.stream.name.text, $0) }, uniquingKeysWith: { first, _ in first })
        func numbers(_ stream: String) throws -> [Double] {
            try #require(byName[stream]).values.compactMap(\.number)
        }
        #expect(try (uptimeBefore...uptimeAfter).contains(numbers("host.uptime")[0]))
        let load = try numbers("host.load")
        #expect(load.count == 3 && load.allSatisfy { (0..<10_000).contains($0) })
        let cores = try text("/proc/stat").split(separator: "\n").count { $0.hasPrefix("cpu") }
        let busy = try numbers("host.cpu")
        #expect(busy.count == min(cores, 64))
        #expect(busy.allSatisfy { (0...100).contains($0) })
        let memory = try numbers("host.memory")
        #expect(try memory[2] == kibibytes("MemTotal") * 1024)
        #expect(memory[0] + memory[1] == memory[2])
        #expect(try abs(memory[1] - kibibytes("MemAvailable") * 1024) < memory[2] / 2)
        let interfaces = try text("/proc/net/dev").split(separator: "\n").dropFirst(2).count
        #expect(readings.count { $0.stream.name.text.hasPrefix("host.network.") } == min(interfaces - 1, 48))
        #expect(readings.allSatisfy { $0.values.count == $0.stream.fields.count })
    }
}
