import DataPoints
import Diagnostics
import Testing

@testable import Bridge

@Suite("Controls that reach devices") struct ForwardTests {
    private func forward(_ template: String = #"{"state":"{value}"}"#) throws -> Configuration.Forward {
        Configuration.Forward(
            position: .init(line: 1, column: 1),
            feed: feed("lamp"),
            topic: "lamp/set",
            template: try #require(ForwardTemplate(template)),
            retain: false
        )
    }

    private func machine() throws -> ForwardStateMachine {
        var machine = ForwardStateMachine()
        machine.replace([try forward()])
        return machine
    }

    private func at(_ seconds: Int64) -> BootInstant { BootInstant(nanoseconds: seconds * 1_000_000_000) }

    private func on(_ value: String) -> [ForwardStateMachine.Decision] {
        [.publish(#"{"state":"\#(value)"}"#, topic: "lamp/set", retain: false)]
    }

    @Test("a value reaches the device once, however often it comes, and each change reaches it")
    func once() throws {
        var machine = try machine()

        #expect(machine.decide("ON", of: feed("lamp"), at: at(1)) == on("ON"))
        #expect(machine.decide("ON", of: feed("lamp"), at: at(2)) == [.nothing])
        #expect(machine.decide("OFF", of: feed("lamp"), at: at(3)) == on("OFF"))
        #expect(machine.decide("ON", of: feed("lamp"), at: at(4)) == on("ON"))
        #expect(machine.decide("ON", of: feed("other"), at: at(5)).isEmpty)
    }

    @Test("what the device told never comes back to it, also when it comes late and in another order")
    func own() throws {
        var machine = try machine()
        machine.noteOwn("1", for: feed("lamp"), at: at(1))
        machine.noteOwn("0", for: feed("lamp"), at: at(2))

        #expect(machine.decide("1", of: feed("lamp"), at: at(3)) == [.nothing])
        #expect(machine.decide("0", of: feed("lamp"), at: at(3)) == [.nothing])
        #expect(machine.decide("0", of: feed("lamp"), at: at(9)) == [.nothing])
        // The echo was used up, so this one is a hand's.
        #expect(machine.decide("1", of: feed("lamp"), at: at(10)) == on("1"))
    }

    @Test("a device that changed by itself can be told the same again")
    func changedByItself() throws {
        var machine = try machine()
        #expect(machine.decide("ON", of: feed("lamp"), at: at(1)) == on("ON"))
        machine.noteOwn("1", for: feed("lamp"), at: at(2))
        #expect(machine.decide("ON", of: feed("lamp"), at: at(3)) == [.nothing])

        machine.noteOwn("0", for: feed("lamp"), at: at(4))

        #expect(machine.decide("ON", of: feed("lamp"), at: at(5)) == on("ON"))
    }

    @Test("what did not reach the broker may be said again")
    func failed() throws {
        var machine = try machine()
        #expect(machine.decide("ON", of: feed("lamp"), at: at(1)) == on("ON"))
        machine.failed(topic: "lamp/set")
        #expect(machine.decide("ON", of: feed("lamp"), at: at(2)) == on("ON"))
    }

    @Test("a circle is cut after thirty changes in a minute, and told once; after a minute it may go on")
    func circle() throws {
        var machine = try machine()
        var published = 0
        var circles = 0
        for number in 0..<1000 {
            for decision in machine.decide("\(number)", of: feed("lamp"), at: at(1)) {
                switch decision {
                case .publish: published += 1
                case .circle: circles += 1
                default: break
                }
            }
        }
        #expect(published == 30)
        #expect(circles == 1)
        #expect(machine.decide("x", of: feed("lamp"), at: at(60)) == [.nothing])
        #expect(machine.decide("x", of: feed("lamp"), at: at(62)) == on("x"))
    }

    @Test("other settings keep what the device was told, as far as they are the same")
    func replaced() throws {
        var machine = try machine()
        _ = machine.decide("ON", of: feed("lamp"), at: at(1))
        machine.replace([try forward()])
        #expect(machine.decide("ON", of: feed("lamp"), at: at(2)) == [.nothing])
        machine.replace([try forward("{value}")])
        #expect(machine.decide("ON", of: feed("lamp"), at: at(3)) == [.publish("ON", topic: "lamp/set", retain: false)])
        machine.replace([])
        #expect(machine.decide("OFF", of: feed("lamp"), at: at(4)).isEmpty)
    }

    @Test(
        "nothing gets out of its place in a template",
        arguments: [
            (#"{"state":"{value}"}"#, #"a","x":"b\"#, #"{"state":"a\",\"x\":\"b\\"}"#), ("{value}", "a\"b", "a\"b"),
            (#"{"n":{value}}"#, "12.50", #"{"n":12.50}"#), (#"{"n":{value}}"#, "true", #"{"n":true}"#),
            (#"{"n":{value}}"#, "1,\"x\":2", nil), (#"{"n":{value}}"#, "{}", nil), (#"{"n":{value}}"#, "ON", nil),
            (#"[{value}]"#, "1],[2", nil), ("dim {value} %", "40", "dim 40 %"),
        ] as [(String, String, String?)]
    )
    func templates(_ template: String, _ value: String, _ expected: String?) throws {
        #expect(try #require(ForwardTemplate(template)).text(for: value) == expected)
    }

    @Test(
        "a template without a place for the value, or with two, is none",
        arguments: ["", "ON", "{value}{value}", "{ value }"]
    )
    func badTemplates(_ text: String) {
        #expect(ForwardTemplate(text) == nil)
    }
}
