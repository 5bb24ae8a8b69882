import DataPoints
import Diagnostics
import Publisher
import TestKit
import Testing

@Suite("Point buffer", .timeLimit(.minutes(5)))
struct PointBufferTests {
    private func points(_ range: Range<Int>) throws -> [DataPoint] {
        let feed = try #require(FeedKey("load"))
        return range.map { DataPoint(feed: feed, value: "\($0)", createdAt: Timestamp(nanoseconds: Int64($0))) }
    }

    @Test("keeps order, and a point stays until it is confirmed")
    func order() async throws {
        let buffer = PointBuffer(capacity: 10, time: ManualTime())
        buffer.append(try points(0..<3))

        let first = try await buffer.first()
        #expect(try await buffer.first() == first)
        buffer.confirm(first.id)

        #expect(first.point.value == "0")
        #expect(try await buffer.first().point.value == "1")
    }

    @Test("a full buffer drops the oldest and counts it: accepted = confirmed + refused + evicted + pending")
    func full() async throws {
        let buffer = PointBuffer(capacity: 4, time: ManualTime())
        buffer.append(try points(0..<2))
        let held = try await buffer.first()
        buffer.append(try points(2..<9))
        buffer.confirm(held.id)
        buffer.refuse(try await buffer.first().id, reason: "too large")

        #expect(buffer.counts.accepted == 9)
        #expect(buffer.counts.evicted == 5)
        #expect(buffer.counts.confirmed == 0)
        #expect(buffer.counts.refused == 1)
        #expect(buffer.counts.pending == 3)
    }

    @Test("who waits is woken by the next point, or by cancellation")
    func waits() async throws {
        let buffer = PointBuffer(capacity: 4, time: ManualTime())
        let waiter = Task { try await buffer.first() }
        buffer.append(try points(7..<8))
        #expect(try await waiter.value.point.value == "7")
        buffer.confirm(1)

        let cancelled = Task { try await buffer.first() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }
}
