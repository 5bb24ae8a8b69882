import Diagnostics
import Samples

@testable import Derivations

extension Chance {
    /// A normal deviate (the sum of twelve even ones).
    mutating func normal() -> Double {
        (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &self) }
    }
}

/// Samples of `location` in metres around 47 N, 8 E.
enum Fixes {
    static let stream = Stream(
        Name(mapping: "location"),
        fields: KnownStreams.fields(of: Name(mapping: "location")) ?? []
    )
    static let origin = GeoPosition(latitude: 47, longitude: 8)

    static func values(
        _ east: Double,
        _ north: Double,
        altitude: Double? = nil,
        accuracy: Double? = nil,
        speed: Double? = nil
    ) -> [Value] {
        let place = origin?.moved(east: east, north: north)
        return [
            Value(place?.latitude ?? .nan), Value(place?.longitude ?? .nan), Value(altitude ?? .nan),
            Value(accuracy ?? .nan), Value(speed ?? .nan), .missing,
        ]
    }
}

/// A derivation with what it gave out.
struct Bench {
    var derivation: any Derivation
    var output: DerivedSamples
    var given: [String: [(seconds: Double, values: [Value])]] = [:]

    init(_ kind: String, _ settings: [(String, String)] = []) throws {
        derivation = try DerivationCatalog.make(kind, DerivationSettings(settings.map { .init($0.0, $0.1) }))
        output = DerivedSamples(derivation.outputs)
    }

    /// Seconds are those after 2020-09-13T12:26:40Z.
    static let start = 1_600_000_000.0

    mutating func add(_ stream: Stream, _ seconds: Double, _ values: [Value], arrival: Double = 0) {
        let batch = SampleBatch(
            stream,
            arrival: BootInstant(nanoseconds: Int64(arrival * 1e9)),
            time: Timestamp(nanoseconds: Int64(Bench.start) * 1_000_000_000 + Int64((seconds * 1e9).rounded())),
            values
        )
        derivation.receive(batch, into: &output)
        collect()
    }

    mutating func add(_ stream: String, fields: [String], _ seconds: Double, _ values: [Value]) {
        add(Stream(Name(mapping: stream), fields: fields.map { Field(Name(mapping: $0)) }), seconds, values)
    }

    mutating func fix(_ seconds: Double, _ east: Double, _ north: Double, accuracy: Double? = nil, speed: Double? = nil)
    {
        add(Fixes.stream, seconds, Fixes.values(east, north, accuracy: accuracy, speed: speed))
    }

    mutating func finish() {
        derivation.finish(into: &output)
        collect()
    }

    private mutating func collect() {
        for batch in output.take() {
            for row in 0..<batch.count {
                let seconds = Double(batch.times[row].nanoseconds - Int64(Bench.start) * 1_000_000_000) * 1e-9
                given[batch.stream.name.text, default: []].append((seconds, Array(batch.sample(row))))
            }
        }
    }

    /// The texts of a field, without what is missing.
    func texts(_ stream: String, _ field: Int) -> [String] {
        (given[stream] ?? []).compactMap { sample in
            guard case .text(let text) = sample.values[field] else { return nil }
            return text
        }
    }

    func total(_ name: String) -> Double? {
        derivation.summary.first { $0.name == name }?.value.number
    }
}
