import Control
import Foundation
import Testing

@Suite("The memory of the switch")
struct SwitchMemoryTests {
    @Test("survives being written and read")
    func roundTrip() throws {
        var script = Script()
        script.at(0, .connected(.rest))
        script.at(1, .last("ON", createdAt: Script.time(0), clockOffset: .zero, read: 0))
        script.at(2, .command(.stop))
        #expect(script.memory.pending?.state == .off)
        #expect(script.memory.followed?.state == .on)

        let data = try JSONEncoder().encode(script.memory)

        #expect(try JSONDecoder().decode(SwitchMemory.self, from: data) == script.memory)
    }

    @Test("starts as off")
    func firstRun() {
        #expect(SwitchMemory().wanted == .off)
        #expect(SwitchMemory().pending == nil)
    }
}
