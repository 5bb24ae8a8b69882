import Derivations
import Diagnostics
import Glibc
import Samples

/// Measures how many samples of a day's length the motion derivations take in a second of one core.
func benchmarkDerivations(_ options: Options) throws {
    let samples = try options.number("samples", 1_000_000)
    let work: [(name: String, kind: String, settings: [DerivationSettings.Entry], inputs: [String])] = [
        ("steps", "steps", [], ["accelerometer"]),
        ("attitude", "attitude", [], ["gyroscope", "accelerometer", "magnetometer"]),
        ("attitude_10_hz", "attitude", [.init("rate", "10")], ["gyroscope", "accelerometer", "magnetometer"]),
        ("shake", "shake", [], ["accelerometer"]),
        ("orientation", "orientation", [], ["accelerometer"]),
        ("activity", "activity", [], ["accelerometer"]),
        ("floors", "floors", [], ["accelerometer", "pressure"]),
    ]
    var results: [String] = []
    for entry in work {
        let derivation = try DerivationCatalog.make(entry.kind, DerivationSettings(entry.settings))
        let speed = measure(derivation, entry.inputs, samples)
        results.append("\"\(entry.name)\":{\"samples_per_s\":\(speed.rate),\"grown_kib\":\(speed.grown)}")
    }
    print("{\"benchmark\":\"derivations\",\"samples\":\(samples),\(results.joined(separator: ","))}")
}

/// Samples a second of processor time, and by how many KiB the memory grew in the second half.
private func measure(_ derivation: any Derivation, _ inputs: [String], _ samples: Int) -> (rate: Int, grown: Int) {
    let size = 100
    var chain = DerivationChain([derivation])
    var used = 0.0
    var given = 0
    var middle = 0
    for start in stride(from: 0, to: samples, by: size) {
        if start <= samples / 2 { middle = residentKiB() }
        // Making the samples is not measured.
        let batches = inputs.map { motion($0, from: start, count: min(size, samples - start)) }
        let before = processorTime()
        for batch in batches { for made in chain.receive(batch) { given += made.count } }
        used += processorTime() - before
    }
    guard given >= 0, used > 0 else { return (0, 0) }
    return (Int(Double(samples) / used), residentKiB() - middle)
}

/// A walk at 100 Hz with some turning about.
private func motion(_ stream: String, from start: Int, count: Int) -> SampleBatch {
    let name = Name(mapping: stream)
    let fields = KnownStreams.fields(of: name) ?? [Field(Name(mapping: "value"))]
    var batch = SampleBatch(Stream(name, fields: fields), arrival: BootInstant(nanoseconds: 0))
    batch.reserveCapacity(count)
    for place in start..<start + count {
        let t = Double(place) / 100
        let values: [Double] =
            switch stream {
            case "gyroscope": [0.1 * sin(t), 0.2 * cos(t), 0.1 * sin(0.7 * t)]
            case "magnetometer": [0.3 * sin(91 * t), 20 + 0.2 * sin(17 * t), -40]
            case "pressure": [1_013 + 0.01 * sin(37 * t)]
            default: [0.1 * sin(217 * t), 0.3 * sin(5 * t), 9.81 + 2.5 * sin(11.3 * t) + 0.1 * sin(311 * t)]
            }
        batch.append(time: Timestamp(nanoseconds: Int64(place) * 10_000_000), values.map { Value($0) })
    }
    return batch
}

private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private func residentKiB() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, 128, file) != nil else { return 0 }
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let words = text.split(separator: " ")
    return words.count > 1 ? (Int(words[1]) ?? 0) * 4 : 0
}
