import Diagnostics
import Foundation
import ReplaySamplers
import Samples
import TestKit

@testable import Derivations

/// A folder of recordings that others made.
enum Recording {
    /// The path of a recording.
    static func path(_ parts: String...) throws -> String { try Recordings.path(parts.joined(separator: "/")) }

    /// All samples of a recording, in batches.
    static func batches(
        _ path: String,
        _ change: (inout RecordingOptions) -> Void = { _ in }
    ) throws -> [SampleBatch] {
        var options = RecordingOptions()
        change(&options)
        var source = try RecordedFile.open(path, options)
        var all: [SampleBatch] = []
        while let some = try source.next() { all += some }
        return all
    }

    /// A walk of the Oxford set.
    static func walk(_ name: String) throws -> [SampleBatch] {
        try batches(try path("pedometer", "oxford_\(name)_50hz.csv.gz")) { $0.columns = ["time_ns", "ax", "ay", "az"] }
    }
}

/// What a derivation gives out.
struct Outcome {
    var samples: [String: [(time: Int64, values: [Value])]] = [:]
    var summary: [String: Value] = [:]

    /// Feeds batches to derivations.
    init(_ derivations: [any Derivation], _ batches: [SampleBatch]) {
        var chain = DerivationChain(derivations)
        for batch in batches { take(chain.receive(batch)) }
        take(chain.finish())
        for entry in chain.summary { summary[entry.name] = entry.value }
    }

    private mutating func take(_ batches: [SampleBatch]) {
        for batch in batches {
            for row in 0..<batch.count {
                samples[batch.stream.name.text, default: []].append(
                    (batch.times[row].nanoseconds, Array(batch.sample(row)))
                )
            }
        }
    }

    /// The samples of a stream.
    func of(_ stream: String) -> [(time: Int64, values: [Value])] { samples[stream] ?? [] }

    /// A total of the summary.
    func total(_ name: String) -> Double { summary[name]?.number ?? .nan }

    /// The texts of the first field of a stream.
    func words(_ stream: String) -> [String] {
        (samples[stream] ?? []).compactMap { if case .text(let text) = $0.values[0] { text } else { nil } }
    }
}

/// Samples made for a test.
enum Made {
    /// A second, in nanoseconds.
    static let second: Int64 = 1_000_000_000

    /// A stream's samples at a rate from a start.
    static func batch(
        _ stream: String,
        rate: Double,
        seconds: Double,
        from start: Double = 1_000,
        _ value: (Double) -> [Double]
    ) -> SampleBatch {
        let name = Name(mapping: stream)
        let fields = KnownStreams.fields(of: name) ?? []
        var batch = SampleBatch(Stream(name, fields: fields), arrival: BootInstant(nanoseconds: 0))
        for place in 0..<Int(seconds * rate) {
            let time = Double(place) / rate
            let values = value(time).map { Value($0) }
            batch.append(
                time: Timestamp(nanoseconds: Int64((start + time) * 1e9)),
                values + Array(repeating: .missing, count: fields.count - values.count)
            )
        }
        return batch
    }

    /// Somebody who walks at a cadence, with both legs nearly alike.
    static func walking(_ time: Double, cadence: Double = 1.8, strength: Double = 2.5) -> [Double] {
        let phase = 2 * Double.pi * cadence * time
        let noise = 0.1 * sin(time * 217.3) + 0.1 * sin(time * 91.7)
        let up = strength * sin(phase) + 0.8 * sin(2 * phase + 0.7)
        return [noise, 0.4 * sin(phase / 2), 9.81 + up + noise]
    }

    /// Batches of several streams, cut into pieces of so many samples and put in the order of their times.
    static func interleaved(_ batches: [SampleBatch], by size: Int) -> [SampleBatch] {
        var pieces: [SampleBatch] = []
        for batch in batches {
            var row = 0
            while row < batch.count {
                var piece = SampleBatch(batch.stream, arrival: batch.arrival)
                for place in row..<min(row + size, batch.count) {
                    piece.append(time: batch.times[place], Array(batch.sample(place)))
                }
                pieces.append(piece)
                row += size
            }
        }
        return pieces.sorted { $0.times[0] < $1.times[0] }
    }
}

/// Numbers by chance that are the same in every run.
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    /// Begins somewhere.
    init(_ seed: UInt64) { state = seed &* 2 &+ 1 }

    /// The next bits.
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        var mixed = state ^ (state >> 33)
        mixed = mixed &* 0xff51_afd7_ed55_8ccd
        return mixed ^ (mixed >> 33)
    }
}
