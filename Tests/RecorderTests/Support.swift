import Diagnostics
import Foundation
import Recorder
import SQLite
import Samples
import TestKit

/// Runs a program and gives back what it wrote to stdout.
func shell(_ arguments: String...) throws -> String {
    try ChildProcess.runBlocking(arguments[0], Array(arguments.dropFirst()))
}

func name(_ text: String) -> Name { Name(mapping: text) }

let accelerometer = Samples.Stream(
    name("accelerometer"),
    fields: ["x", "y", "z"].map { Field(name($0), unit: .metresPerSecondSquared) }
)

let location = Samples.Stream(
    name("location"),
    fields: [
        Field(name("lat"), unit: .degrees), Field(name("lon"), unit: .degrees), Field(name("altitude"), unit: .metres),
    ]
)

/// A stream with a field of each kind.
let mixed = Samples.Stream(
    name("mixed.one"),
    fields: [
        Field(name("real"), unit: .volts), Field(name("count"), kind: .integer), Field(name("word"), kind: .text),
        Field(name("flag"), kind: .flag),
    ]
)

extension Samples.Stream {
    /// A batch of samples at the times, each with one value in every field.
    func batch(_ times: [Int64], _ value: (Int) -> Double = { Double($0) }) -> SampleBatch {
        var batch = SampleBatch(self, arrival: BootInstant(nanoseconds: 0))
        for (row, time) in times.enumerated() {
            batch.append(time: Timestamp(nanoseconds: time), fields.map { _ in Value(value(row)) })
        }
        return batch
    }

    /// A batch of one sample.
    func one(_ time: Int64, _ values: Value...) -> SampleBatch {
        SampleBatch(self, arrival: BootInstant(nanoseconds: 0), time: Timestamp(nanoseconds: time), values)
    }
}

extension ManualTime {
    /// The wall clock, in nanoseconds, moved by `milliseconds`.
    func at(_ milliseconds: Int64) -> Int64 { wall().nanoseconds + milliseconds * 1_000_000 }
}

extension RecordingReader {
    /// All samples of a stream, page by page.
    func all(_ stream: Name, limit: Int = 4096) throws -> [(time: Int64, values: [Value])] {
        var samples: [(time: Int64, values: [Value])] = []
        var position: SamplePage.Position?
        repeat {
            let page = try page(
                of: stream,
                from: Timestamp(nanoseconds: .min),
                to: Timestamp(nanoseconds: .max),
                at: position,
                limit: limit
            )
            let width = page.columns.count
            for (row, time) in page.times.enumerated() {
                samples.append((time.nanoseconds, Array(page.values[row * width..<(row + 1) * width])))
            }
            position = page.next
        } while position != nil
        return samples
    }
}

func value(_ path: String, _ sql: String) throws -> SQLiteValue? {
    let connection = try SQLiteConnection(path: path, mode: .readOnly)
    return try connection.value(sql)
}
