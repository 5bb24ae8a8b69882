import Diagnostics
import Testing

@testable import MQTT

@Suite("Publish queue")
struct PublishQueueTests {
    private let now = BootInstant(nanoseconds: 5)

    private func group(_ count: Int) -> PublishGroup {
        PublishGroup((0..<count).map { MQTTPublication(topic: "t", payload: [UInt8(truncatingIfNeeded: $0)]) })
    }

    @Test("gives out in order, across groups, and never more than the window")
    func keepsOrder() {
        var queue = PublishQueue(window: 4)
        let (first, second) = (group(3), group(3))
        queue.append(first)
        queue.append(second)

        var taken: [(Bool, Int)] = []
        for id in 1...Int32(queue.room()) {
            guard let (group, index) = queue.takeNext() else { break }
            taken.append((group === first, index))
            queue.handed(id, group, index, at: now)
        }

        #expect(taken.map(\.0) == [true, true, true, false] && taken.map(\.1) == [0, 1, 2, 0])
        #expect(queue.room() == 0 && queue.waiting == 2 && queue.oldestUnacknowledged == now)
        let acknowledged = queue.acknowledged(2)
        let (again, strange) = (queue.acknowledged(2), queue.acknowledged(99))
        #expect(acknowledged?.index == 1 && again == nil && strange == nil)
        #expect(queue.room() == 1)
    }

    @Test("stops before an id that is still in flight after a wrap")
    func idsWrap() {
        var queue = PublishQueue(window: 10)
        queue.handed(1, group(1), 0, at: now)
        queue.lastMessageID = 65_535

        #expect(queue.nextIDIsTaken)
        _ = queue.acknowledged(1)
        #expect(!queue.nextIDIsTaken)
    }

    @Test("a cancelled group leaves the line; what it has in flight keeps its place in the window")
    func cancels() {
        var queue = PublishQueue(window: 2)
        let (gone, other) = (group(4), group(1))
        queue.append(gone)
        queue.append(other)
        for id in 1...2 {
            guard let (group, index) = queue.takeNext() else { break }
            queue.handed(Int32(id), group, index, at: now)
        }

        let (handed, unsent) = queue.cancel(gone)

        #expect(handed == [0, 1] && unsent == 2..<4 && queue.waiting == 1 && queue.room() == 0)
        let (late, next, again) = (queue.acknowledged(1), queue.takeNext(), queue.cancel(gone))
        #expect(late != nil && late?.group == nil)
        #expect(next?.group === other)
        #expect(again.unsent.isEmpty && again.handed.isEmpty)
    }
}
