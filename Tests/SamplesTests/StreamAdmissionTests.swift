import Diagnostics
import Samples
import Testing

@Suite("Streams that sources name themselves") struct StreamAdmissionTests {
    private func at(_ seconds: Int64) -> BootInstant { BootInstant(nanoseconds: seconds * 1_000_000_000) }

    private func fields(_ names: String...) -> [Field] { names.map { Field(Name(mapping: $0)) } }

    @Test("sixteen new ones an hour, as many as one source may have in all, and known ones always")
    func limits() throws {
        var admission = StreamAdmission()
        var taken = 0
        for number in 0..<100
        where (try? admission.stream(Name(mapping: "s\(number)"), fields: fields("a"), at: at(0))) != nil {
            taken += 1
        }
        #expect(taken == 16)
        #expect(throws: StreamAdmission.Refusal.tooManyNew) {
            try admission.stream(Name(mapping: "late"), fields: fields("a"), at: at(3599))
        }
        for hour in 1...40 {
            for number in 0..<16 {
                let name = Name(mapping: "h\(hour)n\(number)")
                if (try? admission.stream(name, fields: fields("a"), at: at(Int64(hour) * 3600))) != nil { taken += 1 }
            }
        }
        #expect(taken == 256)
        #expect(throws: StreamAdmission.Refusal.tooMany) {
            try admission.stream(Name(mapping: "more"), fields: fields("a"), at: at(1_000_000))
        }
        #expect(try admission.stream(Name(mapping: "s3"), fields: fields("a"), at: at(1_000_000)).fields.count == 1)
    }

    @Test("a stream grows up to sixty-four fields, and what is there stays as it is")
    func fieldsGrow() throws {
        var admission = StreamAdmission()
        let name = Name(mapping: "s")
        _ = try admission.stream(name, fields: [Field(name, unit: .lux)], at: at(0))

        let wider = try admission.stream(name, fields: [Field(name, kind: .text)] + fields("b", "b"), at: at(0))
        #expect(wider.fields == [Field(name, unit: .lux), Field(Name(mapping: "b"))])
        let widest = try admission.stream(name, fields: (0..<100).map { Field(Name(mapping: "f\($0)")) }, at: at(0))
        #expect(widest.fields.count == 64)
        #expect(admission[name] == widest)
    }

    @Test("another source's stream is not taken")
    func reserved() {
        var admission = StreamAdmission(reserved: [Name(mapping: "host.load")])
        #expect(throws: StreamAdmission.Refusal.taken(Name(mapping: "host.load"))) {
            try admission.stream(Name(mapping: "host.load"), fields: fields("a"), at: at(0))
        }
    }
}
