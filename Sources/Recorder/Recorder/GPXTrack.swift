internal import Diagnostics
internal import Samples

/// Writes samples with a place as a track of GPX 1.1 (https://www.topografix.com/GPX/1/1/).
struct GPXTrack {
    private let cursor: SampleCursor
    private let latitude: Int
    private let longitude: Int
    private let altitude: Int?
    private var lastTime: Int64?

    /// A gap of more than this begins a new segment.
    private static let longestGap: Int64 = 60_000_000_000

    /// Whether a stream has a place: `location`, or `location.DEVICE`, with `lat` and `lon`.
    static func isPlace(_ stream: RecordedStream) -> Bool {
        let name = stream.name.text
        let fields = stream.columns.filter { $0.kind == .real }.map(\.field.text)
        return (name == "location" || name.hasPrefix("location.")) && fields.contains("lat") && fields.contains("lon")
    }

    /// A track of the cursor's stream; nil when it has no place.
    init?(_ cursor: SampleCursor) {
        func place(of field: String) -> Int? {
            cursor.columns.lastIndex { $0.field.text == field && $0.kind == .real }
        }
        guard let latitude = place(of: "lat"), let longitude = place(of: "lon") else { return nil }
        self.cursor = cursor
        self.latitude = latitude
        self.longitude = longitude
        altitude = place(of: "altitude")
    }

    static func writeHead(of session: Session, to bytes: inout [UInt8]) {
        bytes.append(
            contentsOf: """
                <?xml version="1.0" encoding="UTF-8"?>
                <gpx version="1.1" creator="\(escaped("feedbridge \(session.software)"))" \
                xmlns="http://www.topografix.com/GPX/1/1">
                <metadata><name>\(escaped("Session \(session.id)\(session.host.isEmpty ? "" : " of \(session.host)")"))</name>\
                <time>\(session.start)</time></metadata>

                """.utf8
        )
    }

    static func writeFoot(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "</gpx>\n".utf8)
    }

    func begin(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "<trk><name>\(GPXTrack.escaped(cursor.name))</name>\n".utf8)
    }

    /// Writes the sample on which the cursor stands; false when it has no place on earth.
    mutating func writePoint(to bytes: inout [UInt8]) -> Bool {
        guard case .real(let lat) = cursor.value(at: latitude), case .real(let lon) = cursor.value(at: longitude),
            (-90...90).contains(lat), (-180...180).contains(lon)
        else { return false }
        let time = cursor.time
        if let lastTime {
            if time - lastTime > GPXTrack.longestGap { bytes.append(contentsOf: "</trkseg>\n<trkseg>\n".utf8) }
        } else {
            bytes.append(contentsOf: "<trkseg>\n".utf8)
        }
        lastTime = time
        bytes.append(contentsOf: "<trkpt lat=\"\(GPXTrack.decimal(lat))\" lon=\"\(GPXTrack.decimal(lon))\">".utf8)
        if let altitude, case .real(let metres) = cursor.value(at: altitude) {
            bytes.append(contentsOf: "<ele>\(GPXTrack.decimal(metres))</ele>".utf8)
        }
        let stamp = Timestamp(nanoseconds: time).iso8601(fractionDigits: time % 1_000_000 == 0 ? 3 : 9)
        bytes.append(contentsOf: "<time>\(stamp)</time></trkpt>\n".utf8)
        return true
    }

    func end(to bytes: inout [UInt8]) {
        if lastTime != nil { bytes.append(contentsOf: "</trkseg>\n".utf8) }
        bytes.append(contentsOf: "</trk>\n".utf8)
    }

    /// A number without an exponent, which xsd:decimal does not have. Below 1e-4 degrees, 12 digits are a tenth of a
    /// micrometre.
    private static func decimal(_ number: Double) -> String {
        let text = number.description
        guard text.contains("e") else { return text }
        guard number.magnitude < 1 else { return String(Int64(clamping: Int(min(max(number, -9e15), 9e15)))) }
        let digits = String(UInt64((number.magnitude * 1e12).rounded()))
        return "\(number < 0 ? "-" : "")0.\(String(repeating: "0", count: 12 - digits.count))\(digits)"
    }

    /// Text for XML; control characters, which XML has no way to write, are left out.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": break
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
