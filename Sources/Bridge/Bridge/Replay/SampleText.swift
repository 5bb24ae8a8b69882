internal import Diagnostics
internal import FastJSON
internal import Samples

/// Samples as JSON lines: `{"stream":S,"time_ns":N,FIELD...}`.
struct SampleText {
    var bytes: [UInt8] = []

    /// Adds a line for each sample.
    mutating func append(_ batch: SampleBatch) {
        var head: [UInt8] = Array("{\"stream\":".utf8)
        JSON.write(string: batch.stream.name.text, to: &head)
        head += Array(",\"time_ns\":".utf8)
        let keys = batch.stream.fields.map { field in
            var key = Array(",".utf8)
            JSON.write(string: field.name.text, to: &key)
            return key + Array(":".utf8)
        }
        for row in 0..<batch.count {
            bytes += head
            bytes += Array(String(batch.times[row].nanoseconds).utf8)
            for (value, key) in zip(batch.sample(row), keys) {
                bytes += key
                append(value)
            }
            bytes += Array("}\n".utf8)
        }
    }

    /// Adds the last line.
    mutating func append(summary: [(name: String, value: Value)]) {
        bytes += Array("{\"summary\":{".utf8)
        for (place, entry) in summary.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            JSON.write(string: entry.name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            append(entry.value)
        }
        bytes += Array("}}\n".utf8)
    }

    private mutating func append(_ value: Value) {
        switch value {
        case .missing: bytes += Array("null".utf8)
        case .real(let number): bytes += Array(JSON(Optional(number)).serialized().utf8)
        case .integer(let number): bytes += Array(String(number).utf8)
        case .flag(let flag): bytes += Array(flag ? "true".utf8 : "false".utf8)
        case .text(let text): JSON.write(string: text, to: &bytes)
        }
    }
}
