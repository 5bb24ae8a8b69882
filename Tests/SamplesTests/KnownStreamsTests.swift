import Diagnostics
import Samples
import Testing

@Suite("Known streams") struct KnownStreamsTests {
    private func fields(_ name: String) -> [String]? {
        KnownStreams.fields(of: Name(mapping: name))?.map { "\($0.name) \($0.unit.rawValue)" }
    }

    @Test("a stream has its units, also with the suffix of a second device")
    func units() {
        #expect(fields("accelerometer") == ["x m/s^2", "y m/s^2", "z m/s^2"])
        #expect(fields("accelerometer.lid") == fields("accelerometer"))
        #expect(fields("gyroscope") == ["x rad/s", "y rad/s", "z rad/s"])
        #expect(fields("pressure") == ["value hPa"])
        #expect(fields("host.network.eth0") == ["received B/s", "sent B/s"])
        #expect(fields("nothing.known") == nil)
        #expect(fields("accelerometers") == nil)
    }

    @Test("an unknown field is a number without unit")
    func unknownField() {
        let name = Name(mapping: "accelerometer")
        #expect(KnownStreams.field(Name(mapping: "w"), of: name) == Field(Name(mapping: "w")))
        #expect(KnownStreams.field(Name(mapping: "x"), of: name).unit == .metresPerSecondSquared)
    }

    @Test("a batch of many rows is the same as the rows one by one")
    func wholeBatch() {
        let stream = Stream(Name(mapping: "s"), fields: [Field(Name(mapping: "a")), Field(Name(mapping: "b"))])
        let arrival = BootInstant(nanoseconds: 1)
        var single = SampleBatch(stream, arrival: arrival)
        single.append(time: Timestamp(nanoseconds: 1), [.real(1), .missing])
        single.append(time: Timestamp(nanoseconds: 2), [.real(2), .flag(true)])

        let whole = SampleBatch(stream, arrival: arrival, times: single.times, values: single.values)

        #expect(whole.count == 2)
        #expect(Array(whole.sample(1)) == [.real(2), .flag(true)])
    }
}
