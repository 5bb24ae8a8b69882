internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import Samples

/// The object of a composite: `{"device_id":NAME,"timestamp":SECONDS,"STREAM":{"FIELD":...}}`.
///
/// What leaves is `{"value":OBJECT}`; Adafruit IO stores and echoes the object alone, so the object is the point's text.
enum CompositeText {
    /// A longer text within an object is cut, so that the worst case is known before anything is sent.
    static let textBytes = 64

    /// A number whose plain text is longer than this is rounded to 15 digits after the point.
    static let numberBytes = 24

    /// The object, or nil when every value is missing. `values` belong to the rule's fields, in order.
    static func object(of rule: Rule, device: String, time: Timestamp, values: [Value]) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        bytes += Array("{\"device_id\":".utf8)
        JSON.write(string: device, to: &bytes)
        bytes += Array(",\"timestamp\":".utf8)
        bytes += Array(seconds(time).utf8)
        var isEmpty = true
        var written: Set<Name> = []
        for reference in rule.fields where written.insert(reference.stream).inserted {
            var opened = false
            for (place, other) in rule.fields.enumerated() where other.stream == reference.stream {
                guard let text = member(values[place], rule.precision) else { continue }
                if !opened {
                    bytes += Array(",\"\(reference.stream)\":{".utf8)
                } else {
                    bytes.append(UInt8(ascii: ","))
                }
                opened = true
                bytes += Array("\"\(other.field)\":".utf8)
                bytes += text
            }
            if opened {
                bytes.append(UInt8(ascii: "}"))
                isEmpty = false
            }
        }
        bytes.append(UInt8(ascii: "}"))
        return isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// The length in bytes that what leaves, `{"value":OBJECT}`, can have at most.
    static func worstCase(of rule: Rule, device: String, streams: [Name: Stream]) -> Int {
        var name: [UInt8] = []
        JSON.write(string: device, to: &name)
        var bytes = "{\"value\":{\"device_id\":,\"timestamp\":-9223372036.854}}".utf8.count + name.count
        for stream in Set(rule.fields.map(\.stream)) { bytes += ",\"\":{}".utf8.count + stream.text.utf8.count }
        for reference in rule.fields {
            let stream = streams[reference.stream]
            let kind = stream.flatMap { stream in stream.index(of: reference.field).map { stream.fields[$0].kind } }
            let value =
                switch rule.reduction == .last ? kind ?? .real : .real {
                case .text: textBytes + 2
                case .flag: 5
                case .integer: 20
                case .real: rule.reduction == .count ? 20 : numberBytes
                }
            bytes += ",\"\":".utf8.count + reference.field.text.utf8.count + value
        }
        return bytes
    }

    private static func seconds(_ time: Timestamp) -> String {
        CanonicalText.number(time.seconds, precision: 3) ?? "0"
    }

    private static func member(_ value: Value, _ precision: Int?) -> [UInt8]? {
        switch value {
        case .missing: return nil
        case .flag(let flag): return Array((flag ? "true" : "false").utf8)
        case .integer(let count): return Array(String(count).utf8)
        case .real(let number):
            guard let text = CanonicalText.number(number, precision: precision) else { return nil }
            if text.utf8.count <= numberBytes { return Array(text.utf8) }
            return CanonicalText.number(number, precision: 15).map { Array($0.utf8) }
        case .text(let text):
            var bytes: [UInt8] = []
            JSON.write(string: text, to: &bytes)
            guard bytes.count > textBytes + 2 else { return bytes }
            var short = String(text.unicodeScalars.prefix(textBytes))
            bytes.removeAll(keepingCapacity: true)
            JSON.write(string: short, to: &bytes)
            while bytes.count > textBytes + 2, !short.isEmpty {
                let excess = bytes.count - (textBytes + 2)
                short.unicodeScalars.removeLast(max(1, min(short.unicodeScalars.count, excess / 6)))
                bytes.removeAll(keepingCapacity: true)
                JSON.write(string: short, to: &bytes)
            }
            return bytes
        }
    }
}
