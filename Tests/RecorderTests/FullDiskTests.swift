import Diagnostics
import Foundation
import Glibc
import Recorder
import Samples
import TestKit
import Testing

@Suite("A full disk", .timeLimit(.minutes(5)))
struct FullDiskTests {
    @Test(
        "recording goes on by itself when there is room again, and what was dropped is counted",
        .enabled(if: SmallDisk.canMount, Comment(rawValue: SmallDisk.cannot))
    )
    func recovers() async throws {
        let disk = try #require(SmallDisk(bytes: 2 << 20))
        let time = ManualTime()
        var settings = RecorderStore.Settings()
        settings.bufferBytes = 1 << 20
        let store = try await RecorderStore.open(folder: disk.folder.path, settings: settings, time: time)
        let id = try await store.startSession(reason: .command)
        let ballast = disk.folder.file("ballast")
        _ = try shell("sh", "-c", "dd if=/dev/zero of=\(ballast) bs=4096 2>/dev/null; true")
        #expect(store.files.freeBytes() == 0)

        var sent = 0
        var failures = 0
        for step in 0..<400 {
            store.receive(accelerometer.batch((0..<50).map { time.at(Int64(step)) + Int64($0) }))
            sent += 50
            do {
                try await store.flush()
            } catch {
                #expect(error.isFull, "\(error)")
                failures += 1
            }
        }
        #expect(failures > 0)
        #expect(await store.condition?.isFull == true)
        let dropped = store.drops[accelerometer.name] ?? 0
        #expect(dropped > 0)
        let told = try await #require(throws: RecorderError.self) {
            try await store.durably(location.batch([time.at(0)]))
        }
        #expect(told.isFull || told.isRetriable)

        try FileManager.default.removeItem(atPath: ballast)
        try await store.flush()

        #expect(await store.condition == nil)
        let session = try await store.session(id)
        #expect(session.samples[accelerometer.name] == sent - dropped)
        #expect(session.dropped == [accelerometer.name: dropped] && session.drops == dropped)
        #expect(session.state == .running)
        try await store.close()
    }

    @Test(
        "run tries again by itself until there is room, and loses nothing that its buffer holds",
        .enabled(if: SmallDisk.canMount, Comment(rawValue: SmallDisk.cannot))
    )
    func runRetries() async throws {
        let disk = try #require(SmallDisk(bytes: 2 << 20))
        let time = ManualTime()
        let store = try await RecorderStore.open(folder: disk.folder.path, time: time)
        let id = try await store.startSession(reason: .command)
        let running = Task { try await store.run() }
        // The wait for housekeeping.
        await time.untilSleeping(1)
        let ballast = disk.folder.file("ballast")
        _ = try shell("sh", "-c", "dd if=/dev/zero of=\(ballast) bs=4096 2>/dev/null; true")

        store.receive(accelerometer.batch((0..<20_000).map { time.at(0) + Int64($0) }))
        await time.untilSleeping(2)
        time.advance(by: .milliseconds(200))
        // The commit has failed when run waits for another try.
        await time.untilSleeping(2)
        #expect(await store.condition?.isFull == true)
        time.advance(by: .seconds(1))
        await time.untilSleeping(2)
        #expect(await store.condition?.isFull == true)
        try FileManager.default.removeItem(atPath: ballast)
        time.advance(by: .seconds(1))
        while await store.condition != nil { await Task.yield() }

        #expect(try await store.session(id).samples == [accelerometer.name: 20_000])
        #expect(store.drops.isEmpty)
        running.cancel()
        _ = await running.result
        try await store.close()
    }

    @Test(
        "an export that does not fit leaves no half file",
        .enabled(if: SmallDisk.canMount, Comment(rawValue: SmallDisk.cannot))
    )
    func exportLeavesNothing() async throws {
        let disk = try #require(SmallDisk(bytes: 64 << 10))
        let folder = TemporaryDirectory()
        let time = ManualTime()
        let store = try await RecorderStore.open(folder: folder.path, time: time)
        let id = try await store.startSession(reason: .command)
        store.receive(accelerometer.batch((0..<5000).map { time.at($0) }))

        try await store.flush()
        let error = try await #require(throws: RecorderError.self) {
            _ = try await store.makeReader().export(session: id, as: .csv, into: disk.folder.file("out"))
        }

        #expect(error.isFull)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.folder.file("out")).isEmpty)
    }
}
