import Control
import Diagnostics
import Testing

@Suite("The switch")
struct SwitchStateMachineTests {
    private let plainBroker = SwitchSettings(canAsk: false, hasREST: false)

    /// Connected over MQTT, the feed read as OFF, "stopped" told at second 0; the next event may come at second 100.
    private func idle(_ settings: SwitchSettings = SwitchSettings()) -> Script {
        var script = Script(settings)
        script.at(0, .connected(.mqtt))
        script.at(0.1, .arrived("OFF", retained: false))
        script.at(99)
        _ = script.done()
        return script
    }

    @Test("asks on connecting and follows the answer")
    func followsTheAnswer() {
        var script = Script()
        script.at(1, .connected(.mqtt))
        script.at(2, .arrived("ON", retained: false))
        script.at(3, .started(session: "7"))

        #expect(script.done() == ["1 ask", "2 start dashboard", "3 tell recording 7"])
    }

    @Test("starts and stops on edges and ignores repeats")
    func edges() {
        var script = idle()
        script.at(100, .arrived("ON", retained: false))
        script.at(100.1, .arrived("1", retained: false))
        script.at(101, .started(session: "1"))
        script.at(102, .arrived("{\"value\":\"ON\"}", retained: false))
        script.at(170, .arrived("0", retained: false))
        script.at(170, .arrived("0", retained: false))
        script.at(171, .stopped)
        script.at(300)

        #expect(
            script.done() == ["100 start dashboard", "101 tell recording 1", "170 stop dashboard", "171 tell stopped"]
        )
    }

    @Test("ends in the last of a start and a stop that arrive within milliseconds")
    func startAndStop() {
        var script = idle()
        script.at(100, .arrived("ON", retained: false))
        script.at(100.001, .arrived("OFF", retained: false))
        script.at(100.01, .started(session: "1"))
        script.at(100.02, .stopped)
        script.at(200, .arrived("ON", retained: false))
        script.at(200.001, .arrived("OFF", retained: false))
        script.at(200.002, .arrived("ON", retained: false))
        script.at(200.01, .started(session: "2"))
        script.at(200.02, .arrived("OFF", retained: false))
        script.at(200.03, .arrived("ON", retained: false))
        script.at(200.04, .stopped)
        script.at(200.05, .started(session: "3"))

        #expect(
            script.done() == [
                "100 start dashboard", "100.01 stop dashboard", "200 start dashboard", "200.01 tell recording 2",
                "200.02 stop dashboard", "200.04 start dashboard",
            ]
        )
        #expect(script.machine.applied == .on)
    }

    @Test("writes a local command once it is done, and reads the feed after its echo")
    func localCommand() {
        var script = idle()
        script.at(100, .command(.toggle))
        script.at(100.2, .started(session: "1"))
        script.at(100.3, .arrived("ON", retained: false))
        script.at(100.4, .arrived("ON", retained: false))
        script.at(300)

        #expect(
            script.done() == [
                "100 start command", "100.2 write ON #0", "100.2 tell recording 1", "100.3 ask",
            ]
        )
    }

    @Test("writes at most once in 5 s, and only the newest")
    func writesSeldom() {
        var script = idle()
        for step in 0..<6 {
            let second = 100 + Double(step)
            script.at(second, .command(step.isMultiple(of: 2) ? .start : .stop))
            script.at(second + 0.1, step.isMultiple(of: 2) ? .started(session: "\(step)") : .stopped)
            if step == 0 { script.at(second + 0.2, .arrived("ON", retained: false)) }
        }
        script.at(120)

        #expect(
            script.done().filter { $0.contains("write") } == ["100.1 write ON #0", "105.1 write OFF #1"]
        )
    }

    @Test("writes nothing when the feed holds it already")
    func nothingToWrite() {
        var script = idle()
        script.at(100, .command(.start))
        script.at(100.1, .arrived("ON", retained: false))
        script.at(100.2, .started(session: "1"))
        script.at(200)

        #expect(script.done() == ["100 start command", "100.2 tell recording 1"])
    }

    @Test("drops a write that waits when the user writes first")
    func userWritesFirst() {
        var script = idle()
        script.at(100, .command(.start))
        script.at(100.1, .started(session: "1"))
        script.at(100.2, .arrived("ON", retained: false))
        script.at(100.3, .arrived("ON", retained: false))
        script.at(101, .command(.stop))
        script.at(101.1, .stopped)
        script.at(102, .arrived("yes", retained: false))
        script.at(102.1, .started(session: "2"))
        script.at(110)

        #expect(
            script.done().filter { !$0.contains("tell") } == [
                "100 start command", "100.1 write ON #0", "100.2 ask", "101 stop command", "102 start dashboard",
            ]
        )
    }

    @Test("takes what comes before the echo for older, and what comes after it for newer")
    func aroundTheEcho() {
        var script = idle()
        script.at(100, .command(.start))
        script.at(100.1, .started(session: "1"))
        script.at(100.2, .arrived("OFF", retained: false))
        #expect(script.machine.wanted == .on)
        script.at(100.3, .arrived("ON", retained: false))
        script.at(100.4, .arrived("OFF", retained: false))
        #expect(script.machine.wanted == .off)
    }

    @Test("takes an answer that was asked for before a local command for older")
    func staleAnswer() {
        var script = Script()
        script.at(1, .connected(.mqtt))
        script.at(2, .command(.start))
        script.at(2.1, .started(session: "1"))
        script.at(2.2, .arrived("OFF", retained: false))
        script.at(2.3, .arrived("ON", retained: false))

        #expect(
            script.done() == [
                "1 ask", "2 read #0", "2 start command", "2.2 write ON #0", "2.2 tell recording 1", "2.3 ask",
            ]
        )
    }

    @Test("lets times decide after a local command while offline", arguments: [-3.0, 0, 3])
    func offlineCommand(offset: Double) {
        let shift = Duration.seconds(offset)
        var older = Script()
        older.at(50, .command(.start))
        older.at(50.1, .started(session: "1"))
        older.at(60, .connected(.mqtt))
        older.at(
            61,
            .last("OFF", createdAt: Script.time(40 + offset), clockOffset: shift, read: 0)
        )
        #expect(older.done() == ["50 start command", "60 read #0", "61 write ON #0", "61 tell recording 1"])

        var newer = Script()
        newer.at(50, .command(.start))
        newer.at(50.1, .started(session: "1"))
        newer.at(60, .connected(.mqtt))
        newer.at(
            61,
            .last("OFF", createdAt: Script.time(55 + offset), clockOffset: shift, read: 0)
        )
        #expect(newer.done() == ["50 start command", "60 read #0", "61 stop dashboard"])
        #expect(newer.memory.pending == nil)
    }

    @Test("gives ties and unknown clocks to the service")
    func ties() {
        for (createdAt, offset) in [
            (Script.time(50), Duration.zero), (Script.time(0), nil), (nil, .zero),
        ] as [(Timestamp?, Duration?)] {
            var script = Script()
            script.at(50.9, .command(.start))
            script.at(51, .started(session: "1"))
            script.at(60, .connected(.rest))
            script.at(61, .last("OFF", createdAt: createdAt, clockOffset: offset, read: 0))

            #expect(script.machine.wanted == .off)
        }
    }

    @Test("compares times rightly after the wall clock was set")
    func wallClockStep() {
        var machine = SwitchStateMachine(settings: SwitchSettings(), bootID: "a")
        func moment(_ boot: Int64, _ wall: Int64) -> SwitchMoment {
            SwitchMoment(
                wall: Timestamp(nanoseconds: wall * 1_000_000_000),
                boot: BootInstant(nanoseconds: boot * 1_000_000_000)
            )
        }
        _ = machine.handle(.launched, at: moment(10, 0))
        _ = machine.handle(.command(.start), at: moment(20, 10))
        _ = machine.handle(.started(session: "1"), at: moment(21, 11))
        _ = machine.handle(.connected(.rest), at: moment(40, 2_000_000_040))

        let value = SwitchEvent.last(
            "OFF",
            createdAt: Timestamp(nanoseconds: 2_000_000_000_000_000_000),
            clockOffset: .zero,
            read: 0
        )
        let actions = machine.handle(value, at: moment(41, 2_000_000_041))

        #expect(actions.contains(.write("ON", write: 0)))
    }

    @Test("does not start again what failed to start, however often the feed is read")
    func failedStart() {
        var script = Script(SwitchSettings(writeBack: false))
        script.at(0, .connected(.rest))
        script.at(1, .last("ON", createdAt: Script.time(1), clockOffset: .zero, read: 0))
        script.at(1.2, .startFailed("no\nsensor"))
        for read in 1...5 {
            script.at(Double(read) * 10 + 5)
            script.at(
                Double(read) * 10 + 5,
                .last("ON", createdAt: Script.time(1), clockOffset: .zero, read: read)
            )
        }

        #expect(script.done().filter { !$0.contains("read") } == ["1 start dashboard", "1.2 tell error: no sensor"])
    }

    @Test("writes OFF when a start failed or recording broke")
    func failuresAreWritten() {
        var script = idle()
        script.at(100, .arrived("ON", retained: false))
        script.at(100.1, .startFailed("disk full"))
        script.at(100.2, .arrived("OFF", retained: false))
        script.at(100.3, .arrived("OFF", retained: false))
        script.at(200, .arrived("ON", retained: false))
        script.at(200.1, .started(session: "1"))
        script.at(201, .broke("disk full"))
        script.at(201.1, .arrived("OFF", retained: false))

        #expect(
            script.done() == [
                "100 start dashboard", "100.1 write OFF #0", "100.1 tell error: disk full", "100.2 ask",
                "200 start dashboard", "200.1 tell recording 1", "201 write OFF #1", "201.1 ask",
            ]
        )
    }

    @Test("writes OFF when a limit ends the session")
    func limit() {
        var script = idle()
        script.at(100, .arrived("ON", retained: false))
        script.at(100.1, .started(session: "1"))
        script.at(200, .limitReached)
        script.at(200.1, .stopped)

        #expect(
            script.done() == [
                "100 start dashboard", "100.1 tell recording 1", "200 stop limit", "200.1 write OFF #0",
                "200.1 tell stopped",
            ]
        )
    }

    @Test("asks twice, then lets REST say whether the feed is empty, and gives an empty feed its own state")
    func emptyFeed() {
        var script = Script()
        script.at(1, .connected(.mqtt))
        script.at(12)
        script.at(12, .empty(read: 0))
        script.at(12.1, .arrived("OFF", retained: false))

        #expect(
            script.done() == ["1 ask", "6 ask", "11 read #0", "12 write OFF #0", "12 tell stopped", "12.1 ask"]
        )
    }

    @Test(
        "a command while an answer is awaited asks REST at once: an empty feed gets it without ten seconds of silence"
    )
    func commandOnEmptyFeed() {
        var script = Script()
        script.at(1, .connected(.mqtt))
        script.at(2, .command(.start))
        script.at(2.1, .started(session: "1"))
        script.at(2.2, .empty(read: 0))
        script.at(2.3, .arrived("ON", retained: false))

        #expect(
            script.done() == [
                "1 ask", "2 read #0", "2 start command", "2.2 write ON #0", "2.2 tell recording 1", "2.3 ask",
            ]
        )
    }

    @Test("a command while an answer is awaited does not beat a newer word on the feed")
    func commandBeforeNewerWord() {
        var script = Script()
        script.at(1, .connected(.mqtt))
        script.at(2, .command(.start))
        script.at(2.1, .started(session: "1"))
        script.at(4.2, .last("OFF", createdAt: Script.time(4), clockOffset: .zero, read: 0))
        script.at(4.3, .stopped)

        #expect(
            script.done() == ["1 ask", "2 read #0", "2 start command", "4.2 stop dashboard", "4.3 tell stopped"]
        )
    }

    @Test("says goodbye with `stopped` when the feed was told otherwise and a link works, and only then")
    func farewell() {
        var script = idle()
        #expect(script.farewell() == nil)
        script.at(100, .arrived("ON", retained: false))
        script.at(100.1, .started(session: "1"))
        #expect(script.done().last == "100.1 tell recording 1")

        var offline = script
        offline.at(101, .disconnected)
        #expect(offline.farewell() == nil)
        #expect(script.farewell() == "stopped")
        #expect(script.farewell() == nil)
    }

    @Test("does not take two lost answers for an empty feed")
    func lostAnswers() {
        var script = Script()
        script.at(1, .connected(.mqtt))
        script.at(12, .last("ON", createdAt: Script.time(-100), clockOffset: .zero, read: 0))

        #expect(script.done() == ["1 ask", "6 ask", "11 read #0", "12 start dashboard"])
    }

    @Test("on a plain broker follows the retained message, or writes its own state when there is none")
    func retained() {
        var script = Script(plainBroker)
        script.at(1, .connected(.mqtt))
        script.at(1.1, .arrived("ON", retained: true))
        #expect(script.done() == ["1.1 start dashboard"])

        var empty = Script(plainBroker)
        empty.at(1, .connected(.mqtt))
        empty.at(10)
        empty.at(10.1, .arrived("OFF", retained: false))
        empty.at(100)
        #expect(empty.done() == ["6 write OFF #0", "6 tell stopped"])
    }

    @Test("on a plain broker follows the service after a local command while offline")
    func retainedAfterOffline() {
        var script = Script(plainBroker)
        script.at(1, .command(.start))
        script.at(1.1, .started(session: "1"))
        script.at(2, .connected(.mqtt))
        script.at(2.1, .arrived("OFF", retained: true))

        #expect(script.done() == ["1 start command", "2.1 stop dashboard"])
    }

    @Test("goes on with the last applied state until the feed has been read")
    func followOnStart() {
        var before = idle()
        before.at(100, .arrived("ON", retained: false))
        before.at(100.1, .started(session: "1"))

        var after = Script(memory: before.memory)
        after.at(1, .started(session: "2"))
        after.at(2, .connected(.mqtt))
        after.at(2.1, .arrived("OFF", retained: false))

        #expect(after.done() == ["0 start dashboard", "2 ask", "2.1 stop dashboard"])
    }

    @Test("starts on or off when told so, and writes it like a local command", arguments: [SwitchState.on, .off])
    func onStart(state: SwitchState) {
        var script = Script(SwitchSettings(onStart: state == .on ? .on : .off))
        if state == .on { script.at(1, .started(session: "1")) }
        script.at(2, .connected(.mqtt))
        let other = state == .on ? "OFF" : "ON"
        script.at(3, .last(other, createdAt: Script.time(-5), clockOffset: .zero, read: 0))

        let expected =
            state == .on
            ? ["0 start command", "2 read #0", "3 write ON #0", "3 tell recording 1"]
            : ["2 read #0", "3 write OFF #0", "3 tell stopped"]
        #expect(script.done() == expected)
    }

    @Test("keeps a decision across a restart until it stands on the feed")
    func pendingAcrossRestart() {
        var before = idle()
        before.at(100, .arrived("ON", retained: false))
        before.at(100.1, .started(session: "1"))
        before.at(101, .disconnected)
        before.at(102, .command(.stop))

        var after = Script(memory: before.memory, bootID: "b")
        after.at(110, .connected(.mqtt))
        after.at(111, .last("ON", createdAt: Script.time(100), clockOffset: .zero, read: 0))

        #expect(after.done() == ["110 read #0", "111 write OFF #0", "111 tell stopped"])
    }

    @Test("polls over REST, follows newer values and takes a stored write for its echo")
    func rest() {
        var script = Script()
        script.at(0, .connected(.rest))
        script.at(1, .last("OFF", createdAt: Script.time(-9), clockOffset: .zero, read: 0))
        script.at(12, .last("ON", createdAt: Script.time(10), clockOffset: .zero, read: 1))
        script.at(12.1, .started(session: "1"))
        script.at(15, .command(.stop))
        script.at(15.1, .stopped)
        script.at(15.2, .written(createdAt: Script.time(15), write: 0))
        script.at(15.3, .last("OFF", createdAt: Script.time(15), clockOffset: .zero, read: 2))
        script.at(30)

        #expect(
            script.done() == [
                "0 read #0", "1 tell stopped", "11 read #1", "12 start dashboard", "15 stop command",
                "15.1 write OFF #0", "15.2 read #2", "25.3 read #3",
            ]
        )
    }

    @Test("ignores a read that was on its way when it wrote")
    func staleRead() {
        var script = Script()
        script.at(0, .connected(.rest))
        script.at(1, .last("OFF", createdAt: Script.time(-9), clockOffset: .zero, read: 0))
        script.at(11)
        script.at(11.1, .command(.start))
        script.at(11.2, .started(session: "1"))
        script.at(11.3, .last("OFF", createdAt: Script.time(11), clockOffset: .zero, read: 1))

        #expect(script.machine.wanted == .on)
    }

    @Test("follows a value older than the last one only if it stays")
    func deletedValue() {
        var script = Script()
        script.at(0, .connected(.rest))
        script.at(1, .last("ON", createdAt: Script.time(0), clockOffset: .zero, read: 0))
        script.at(1.1, .started(session: "1"))
        script.at(11)
        script.at(12, .last("OFF", createdAt: Script.time(-9), clockOffset: .zero, read: 1))
        #expect(script.machine.wanted == .on)
        script.at(12.1, .last("OFF", createdAt: Script.time(-9), clockOffset: .zero, read: 2))
        #expect(script.machine.wanted == .off)
        #expect(
            script.done() == [
                "0 read #0", "1 start dashboard", "1.1 tell recording 1", "11 read #1", "12 read #2",
                "12.1 stop dashboard",
            ]
        )
    }

    @Test("ignores a read by REST that a newer value over MQTT has overtaken")
    func overtakenRead() {
        var script = Script()
        script.at(1, .command(.start))
        script.at(1.1, .started(session: "1"))
        script.at(2, .connected(.mqtt))
        script.at(2.1, .arrived("OFF", retained: false))
        script.at(2.2, .stopped)
        script.at(2.3, .last("ON", createdAt: Script.time(3), clockOffset: .zero, read: 0))

        #expect(script.done() == ["1 start command", "2 read #0", "2.1 stop dashboard", "2.2 tell stopped"])
        #expect(script.machine.wanted == .off)
    }

    @Test("asks nothing after an echo while the next local command waits to be written")
    func commandBeforeTheEcho() {
        var script = idle()
        script.at(100, .command(.start))
        script.at(100.1, .started(session: "1"))
        script.at(100.2, .command(.stop))
        script.at(100.3, .arrived("ON", retained: false))
        script.at(100.4, .stopped)
        script.at(105.2, .arrived("OFF", retained: false))

        #expect(
            script.done() == [
                "100 start command", "100.1 write ON #0", "100.1 tell recording 1", "100.2 stop command",
                "105.1 write OFF #1", "105.2 ask",
            ]
        )
    }

    @Test("awaits a lost answer for a minute: after that, a value is the user's word")
    func forgottenAnswer() {
        for (second, isUsers) in [(50.0, false), (100.0, true)] {
            var script = Script()
            script.at(1, .connected(.mqtt))
            script.at(6, .arrived("ON", retained: false))
            script.at(6.1, .started(session: "1"))
            script.at(second, .command(.stop))
            // The first answer was lost; the recorder has not stopped yet, so nothing was written.
            script.at(second + 0.1, .arrived("ON", retained: false))

            #expect(script.machine.wanted == (isUsers ? .on : .off))
        }
    }

    @Test("tells its state again after a reconnect, which may have lost it, but not within the minute")
    func tellsAgain() {
        var script = idle()
        script.at(100, .disconnected)
        script.at(101, .connected(.mqtt))
        script.at(101.1, .arrived("OFF", retained: false))
        script.at(110, .disconnected)
        script.at(111, .connected(.mqtt))
        script.at(111.1, .arrived("OFF", retained: false))
        script.at(300)

        #expect(script.done() == ["101 ask", "101.1 tell stopped", "111 ask", "161.1 tell stopped"])
    }

    @Test("knows since when it wants what it wants, also after a restart")
    func since() {
        var script = idle()
        script.at(100, .arrived("ON", retained: false))
        script.at(150, .arrived("ON", retained: false))

        #expect(script.machine.since == Script.time(100))
        #expect(script.machine.reason == .dashboard)
        #expect(Script(memory: script.memory, bootID: "b").machine.since == Script.time(100))
    }

    @Test("over REST reads the feed before it writes the next decision, and drops it when the user wrote first")
    func readsBetweenWrites() {
        var script = Script()
        script.at(0, .connected(.rest))
        script.at(1, .last("OFF", createdAt: Script.time(-9), clockOffset: .zero, read: 0))
        script.at(2, .command(.start))
        script.at(2.1, .started(session: "1"))
        script.at(2.2, .command(.stop))
        script.at(2.3, .written(createdAt: Script.time(2), write: 0))
        script.at(2.4, .stopped)
        script.at(5, .last("yes", createdAt: Script.time(4), clockOffset: .zero, read: 1))
        script.at(5.1, .started(session: "2"))
        script.at(14)

        #expect(
            script.done().filter { !$0.contains("tell") } == [
                "0 read #0", "2 start command", "2.1 write ON #0", "2.2 stop command", "2.3 read #1",
                "5 start dashboard",
            ]
        )
    }

    @Test("gives the service its word when MQTT works, REST does not, and no times are to be had")
    func noTimes() {
        var script = Script()
        script.at(1, .command(.start))
        script.at(1.1, .started(session: "1"))
        script.at(2, .connected(.mqtt))
        script.at(3, .readFailed(read: 0))
        script.at(14, .readFailed(read: 1))
        script.at(25, .readFailed(read: 2))
        script.at(25.1, .arrived("OFF", retained: false))

        #expect(
            script.done().filter { !$0.contains("tell") } == [
                "1 start command", "2 read #0", "13 read #1", "24 read #2", "25 ask", "25.1 stop dashboard",
            ]
        )
    }

    @Test("lets the feed decide when the echo of a write stays away")
    func missingEcho() {
        var script = idle()
        script.at(100, .command(.start))
        script.at(100.1, .started(session: "1"))
        script.at(111, .last("OFF", createdAt: Script.time(0), clockOffset: .zero, read: 0))
        script.at(111.2, .arrived("ON", retained: false))

        #expect(
            script.done() == [
                "100 start command", "100.1 write ON #0", "100.1 tell recording 1", "110.1 read #0", "111 write ON #1",
                "111.2 ask",
            ]
        )
    }

    @Test("tells an unknown word once, and its state again after it")
    func unknownWord() {
        var script = idle()
        script.at(100, .arrived("ban\nana", retained: false))
        script.at(101, .arrived("ban\nana", retained: false))
        script.at(300, .arrived("ban\nana", retained: false))
        script.at(600)

        #expect(
            script.done() == [
                "100 tell error: \"ban ana\" on the control feed is neither ON nor OFF", "160 tell stopped",
            ]
        )
    }

    @Test("tells its state again after the same unknown word came twice, with a known one between")
    func unknownWordAgain() {
        var script = idle()
        script.at(100, .arrived("banana", retained: false))
        script.at(101, .arrived("OFF", retained: false))
        script.at(102, .arrived("banana", retained: false))
        script.at(600)

        #expect(
            script.done() == [
                "100 tell error: \"banana\" on the control feed is neither ON nor OFF", "160 tell stopped",
            ]
        )
    }

    @Test("tells at most once a minute, and the last state always")
    func status() {
        var script = idle()
        script.at(100, .arrived("ON", retained: false))
        script.at(100.1, .started(session: "1"))
        script.at(110, .arrived("OFF", retained: false))
        script.at(110.1, .stopped)
        script.at(120, .arrived("ON", retained: false))
        script.at(120.1, .started(session: "2"))
        script.at(500)

        #expect(script.done().filter { $0.contains("tell") } == ["100.1 tell recording 1", "160.1 tell recording 2"])
    }

    @Test("never writes with write_back off, and keeps to a local command until the feed changes")
    func noWriteBack() {
        var script = Script(SwitchSettings(writeBack: false))
        script.at(0, .connected(.mqtt))
        script.at(0.1, .arrived("ON", retained: false))
        script.at(0.2, .started(session: "1"))
        script.at(50, .command(.stop))
        script.at(50.1, .stopped)
        script.at(60, .disconnected)
        script.at(70, .connected(.mqtt))
        script.at(71, .last("ON", createdAt: Script.time(0), clockOffset: .zero, read: 0))
        #expect(script.machine.wanted == .off)
        script.at(100, .arrived("ON", retained: false))

        #expect(
            script.done().filter { !$0.contains("tell") } == [
                "0 ask", "0.1 start dashboard", "50 stop command", "70 read #0", "100 start dashboard",
            ]
        )
    }
}
