import DataPoints
import Diagnostics
import Samples

@testable import Feeds

let second: Int64 = 1_000_000_000

func name(_ text: String) -> Name { Name(mapping: text) }

func reference(_ stream: String, _ field: String) -> FieldReference {
    FieldReference(stream: name(stream), field: name(field))
}

func feed(_ text: String) -> FeedKey {
    guard let key = FeedKey(text) else { preconditionFailure("\(text) is not a feed key") }
    return key
}

let load = Stream(name("host.load"), fields: [Field(name("one_minute")), Field(name("five_minutes"))])
let words = Stream(
    name("words"),
    fields: [
        Field(name("text"), kind: .text), Field(name("flag"), kind: .flag), Field(name("number"), kind: .integer),
    ]
)
let place = Stream(
    name("location"),
    fields: [
        Field(name("lat"), unit: .degrees), Field(name("lon"), unit: .degrees), Field(name("altitude"), unit: .metres),
    ]
)

/// A batch of `stream` from rows of a time in seconds and values.
func batch(_ stream: Stream, arrival: Double = 0, _ rows: [(Double, [Value])]) -> SampleBatch {
    var batch = SampleBatch(stream, arrival: BootInstant(nanoseconds: Int64(arrival * 1e9)))
    for (time, values) in rows {
        batch.append(time: Timestamp(nanoseconds: Int64((time * 1e9).rounded())), values)
    }
    return batch
}

/// A batch of `host.load` from rows of a time in seconds and the first field's number.
func loads(arrival: Double = 0, _ rows: (Double, Double)...) -> SampleBatch {
    batch(load, arrival: arrival, rows.map { ($0.0, [.real($0.1), .missing]) })
}

func at(_ seconds: Double) -> Timestamp { Timestamp(nanoseconds: Int64((seconds * 1e9).rounded())) }

/// Numbers that are the same for the same seed.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
