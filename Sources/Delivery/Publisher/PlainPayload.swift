internal import DataPoints
internal import Diagnostics
internal import FastJSON

/// Writes what a plain broker gets: `{"value":21.5,"created_at":"2026-05-01T12:00:00.250Z","lat":...,"lon":...,"ele":...}`.
///
/// A value that is a JSON number or object stands as it is, any other as a string. It remembers the second that it wrote
/// last, for points come in the order of their times.
struct PlainPayload {
    private var second: Int64?
    private var secondText: [UInt8] = []

    /// One point as an object, or, where several may go together, always a list.
    mutating func bytes(_ points: [PublisherPoint], asList: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(points.count * 80 + 2)
        if asList { bytes.append(UInt8(ascii: "[")) }
        for (place, point) in points.enumerated() {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            append(point.point, to: &bytes)
        }
        if asList { bytes.append(UInt8(ascii: "]")) }
        return bytes
    }

    private mutating func append(_ point: DataPoint, to bytes: inout [UInt8]) {
        bytes += #"{"value":"#.utf8
        Self.append(value: point.value, to: &bytes)
        bytes += #","created_at":""#.utf8
        append(point.createdAt, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
        if let location = point.location {
            Self.append("lat", location.latitude, to: &bytes)
            Self.append("lon", location.longitude, to: &bytes)
            if let elevation = location.elevation { Self.append("ele", elevation, to: &bytes) }
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func append(_ time: Timestamp, to bytes: inout [UInt8]) {
        let rest = time.nanoseconds % 1_000_000_000
        let fraction = rest < 0 ? rest + 1_000_000_000 : rest
        let whole = time.nanoseconds &- fraction
        if second != whole {
            second = whole
            secondText = Array(Timestamp(nanoseconds: whole).iso8601(fractionDigits: 0).utf8)
            if secondText.last == UInt8(ascii: "Z") { secondText.removeLast() }
        }
        let milliseconds = fraction / 1_000_000
        bytes += secondText
        bytes.append(UInt8(ascii: "."))
        for divisor: Int64 in [100, 10, 1] {
            bytes.append(UInt8(ascii: "0") + UInt8(milliseconds / divisor % 10))
        }
        bytes.append(UInt8(ascii: "Z"))
    }

    private static func append(_ name: String, _ number: Double, to bytes: inout [UInt8]) {
        guard let text = CanonicalText.number(number) else { return }
        bytes += ",\"\(name)\":\(text)".utf8
    }

    private static func append(value: String, to bytes: inout [UInt8]) {
        if isNumber(value) || isObject(value) {
            bytes += value.utf8
            return
        }
        bytes.append(UInt8(ascii: "\""))
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20, 0x7f:
                bytes += "\\u00".utf8
                bytes.append(hexadecimal[Int(byte >> 4)])
                bytes.append(hexadecimal[Int(byte & 0xf)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let hexadecimal = Array("0123456789abcdef".utf8)

    private static func isObject(_ text: String) -> Bool {
        guard text.utf8.first == UInt8(ascii: "{") else { return false }
        return (try? JSON.parse(text))?.object != nil
    }

    /// Whether the text is a number as JSON writes one: no plus sign, no zero in front, digits on both sides of a point.
    private static func isNumber(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func digits(_ rest: inout Substring.UTF8View) -> Int {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            rest = rest.dropFirst(digits.count)
            return digits.count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let leadsWithZero = rest.first == UInt8(ascii: "0")
        let whole = digits(&rest)
        guard whole > 0, whole == 1 || !leadsWithZero else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits(&rest) > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
            guard digits(&rest) > 0 else { return false }
        }
        return rest.isEmpty
    }
}
