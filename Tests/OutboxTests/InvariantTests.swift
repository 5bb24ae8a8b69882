import DataPoints
import Diagnostics
import Foundation
import Outbox
import SQLite
import TestKit
import Testing

@Suite("Whatever happens", .timeLimit(.minutes(10)))
struct InvariantTests {
    @Test("accepted = confirmed + refused + evicted + pending, and the rows are those that a simple model has")
    func balanced() async throws {
        let folder = TemporaryDirectory()
        let time = ManualTime()
        var settings = OutboxSettings()
        settings.durability = .normal
        var dice = Dice(state: 42)
        var store = try await OutboxStore.open(folder: folder.path, settings: settings, time: time)
        let feeds = (0..<5).map { feed("feed-\($0)") }
        // The model: pending points by id, dead ones, and counts.
        var pending: [Int64: PointState] = [:]
        var dead: Set<Int64> = []
        var (accepted, confirmed, evicted, next) = (0, 0, 0, Int64(1))
        func some(_ dice: inout Dice) -> [Int64] {
            (0..<Int.random(in: 1...8, using: &dice)).map { _ in
                Int64.random(in: max(1, next - 300)...next, using: &dice)
            }
        }
        // Every night it goes on for longer.
        let isLong = ProcessInfo.processInfo.environment["FEEDBRIDGE_STORMS"] != nil
        var steps = 0
        while steps < (isLong ? 110_000 : 30_000) {
            if steps % 100 == 0 { await Task.yield() }
            steps += 1
            switch Int.random(in: 0..<1000, using: &dice) {
            case 0..<300:
                let feed = feeds[Int.random(in: 0..<5, using: &dice)]
                let count = Int.random(in: 1...4, using: &dice)
                store.append((0..<count).map { time.point(feed, $0) }, priority: UInt8.random(in: 0...1, using: &dice))
                for _ in 0..<count {
                    pending[next] = .waiting
                    next += 1
                }
                accepted += count
            case 300..<550:
                for id in some(&dice) {
                    store.confirm([id])
                    if pending.removeValue(forKey: id) != nil { confirmed += 1 }
                }
            case 550..<600:
                let id = Int64.random(in: 1...next, using: &dice)
                store.refuse([id], reason: "no")
                if pending.removeValue(forKey: id) != nil { dead.insert(id) }
            case 600..<700:
                for id in some(&dice) {
                    store.evict([id])
                    if pending.removeValue(forKey: id) != nil { evicted += 1 }
                }
            case 700..<900:
                let state = [PointState.waiting, .doubt, .held][Int.random(in: 0..<3, using: &dice)]
                let ids = some(&dice)
                switch state {
                case .waiting: store.putBack(ids)
                case .doubt: store.doubt(ids)
                default: store.hold(ids)
                }
                for id in ids where pending[id] != nil { pending[id] = state }
            case 900..<960:
                let ids = some(&dice)
                try await store.markSending(ids)
                for id in ids where pending[id] != nil { pending[id] = .sending }
            case 960..<975:
                try await store.flush()
            case 975..<978:
                let ids = Array(dead.prefix(3))
                #expect(try await store.retry(ids) == ids.count)
                for id in ids {
                    dead.remove(id)
                    pending[id] = .waiting
                }
            case 978..<979 where Int.random(in: 0..<10, using: &dice) == 0:
                try await store.close()
                store = try await OutboxStore.open(folder: folder.path, settings: settings, time: time)
                for (id, state) in pending {
                    if state == .sending { pending[id] = .doubt }
                    if state == .held { pending[id] = .waiting }
                }
            default:
                break
            }
            let counts = store.statistics.total
            guard counts.isBalanced, counts.accepted == accepted else {
                Issue.record("step \(steps): \(counts)")
                return
            }
            if steps.isMultiple(of: 10_000) {
                try await store.flush()
                let total = store.statistics.total
                #expect(total.confirmed == confirmed && total.refused == dead.count && total.evicted == evicted)
                let rows = try await OutboxReader(folder: folder.path).all()
                #expect(rows.map(\.id) == pending.keys.sorted())
                #expect(rows.allSatisfy { pending[$0.id] == $0.state }, "step \(steps)")
                #expect(try await OutboxReader(folder: folder.path).statistics().counts == store.statistics)
            }
        }
        // Whatever is counted, the file itself says the same.
        let rows = try sqlite(
            folder.file("outbox.sqlite"),
            "SELECT count(*) FROM points UNION ALL SELECT sum(waiting + sending + doubtful + held + untimed) FROM lanes"
        )
        let numbers = rows.split(separator: "\n")
        #expect(numbers.count == 2 && numbers[0] == numbers[1])
        try await store.close()
        #expect(try sqlite(folder.file("outbox.sqlite"), "PRAGMA integrity_check") == "ok\n")
    }
}
