import DataPoints
import Diagnostics
import Foundation
import Glibc
import TestKit
import Testing

@testable import Outbox

@Suite("A full disk", .timeLimit(.minutes(1)))
struct FullDiskTests {
    let time = ManualTime()

    @Test(
        "points still leave, new ones are counted as dropped, and all goes on by itself when there is room",
        .enabled(if: SmallDisk.canMount, Comment(rawValue: SmallDisk.cannot))
    )
    func recovers() async throws {
        let disk = try #require(SmallDisk(bytes: 4 << 20))
        let folder = disk.folder
        var settings = OutboxSettings()
        settings.reserveBytes = 512 << 10
        let store = try await OutboxStore.open(folder: folder.path, settings: settings, time: time)
        for _ in 0..<4 {
            store.append((0..<1000).map { time.point(load, $0) })
            try await store.flush()
        }
        let ballast = folder.file("ballast")
        fill(ballast)

        var sent = 4000
        for _ in 0..<400 {
            store.append((0..<50).map { time.point(door, $0) })
            sent += 50
            try? await store.flush()
        }

        let full = store.statistics
        #expect(full.total.accepted == sent && full.total.isBalanced)
        let dropped = full.feeds[door]?.evictedBy[.disk] ?? 0
        #expect(dropped > 0 && full.total.evicted == dropped)
        #expect(await store.condition.isDiskFull)
        let told = try await #require(throws: OutboxError.self) { try await store.durably([time.point(load, 1)]) }
        #expect(told.isFull && told.description.contains("Free space"))
        // The bridge goes on sending what there is.
        for _ in 0..<30 {
            let taken = try await store.take(of: load, limit: 50)
            #expect(taken.count == 50)
            store.confirm(taken.map(\.id))
        }
        try await store.flush()
        #expect(store.statistics.total.confirmed == 1500)

        try FileManager.default.removeItem(atPath: ballast)
        await store.recoverRoomForTest()

        #expect(await store.condition.isDiskFull == false)
        try await store.durably([time.point(load, "again")])
        let counts = store.statistics
        #expect(counts.total.isBalanced && counts.total.evicted == dropped)
        #expect(try await OutboxReader(folder: folder.path).statistics().counts == counts)
        try await store.close()
    }

    @Test(
        "a start on a full disk works and shows the points there are",
        .enabled(if: SmallDisk.canMount, Comment(rawValue: SmallDisk.cannot))
    )
    func starts() async throws {
        let disk = try #require(SmallDisk(bytes: 4 << 20))
        var settings = OutboxSettings()
        settings.reserveBytes = 512 << 10
        var store = try await OutboxStore.open(folder: disk.folder.path, settings: settings, time: time)
        store.append((0..<100).map { time.point(load, $0) })
        try await store.flush()
        try await store.markSending([1])
        try await store.close()
        fill(disk.folder.file("ballast"))

        store = try await OutboxStore.open(folder: disk.folder.path, settings: settings, time: time)

        #expect(try await store.points(of: load, limit: 1000).count == 99)
        #expect(try await store.points(of: load, in: .doubt).count == 1)
        store.confirm([1, 2])
        try await store.flush()
        #expect(store.statistics.total.confirmed == 2 && store.statistics.total.isBalanced)
        try await store.close()
    }

    @Test(
        "a start on a read-only disk says so, and works when it can be written again",
        .enabled(if: SmallDisk.canMount, Comment(rawValue: SmallDisk.cannot))
    )
    func readOnly() async throws {
        let disk = try #require(SmallDisk(bytes: 4 << 20))
        let store = try await OutboxStore.open(folder: disk.folder.path, time: time)
        store.append([time.point(load, 1)])
        try await store.flush()
        try await store.close()
        #expect(mount("none", disk.folder.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)

        let error = try await #require(throws: OutboxError.self) {
            _ = try await OutboxStore.open(folder: disk.folder.path, time: time)
        }

        #expect("\(error)".contains("Read-only file system"), "\(error)")
        #expect(mount("none", disk.folder.path, "tmpfs", UInt(MS_REMOUNT), nil) == 0)
        let again = try await OutboxStore.open(folder: disk.folder.path, time: time)
        #expect(try await again.points(of: load).count == 1)
        try await again.close()
    }

    private func fill(_ path: String) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT, 0o600)
        defer { Glibc.close(descriptor) }
        let block = [UInt8](repeating: 1, count: 4096)
        while write(descriptor, block, block.count) == block.count {}
    }
}

extension OutboxStore {
    /// What `run` does each second.
    func recoverRoomForTest() { recoverRoom() }
}
