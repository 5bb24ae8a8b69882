/// What positions are written in.
public enum TrackFormat: String, Sendable, CaseIterable {
    /// GPS Exchange Format 1.0 and 1.1.
    case gpx
    /// NMEA 0183 sentences, one a line.
    case nmea
    /// What gpsd says: one JSON object a line.
    case gpsd
    /// OwnTracks' messages, one a line, alone or as its recorder keeps them.
    case owntracks

    /// The format of a file that begins with these bytes (some kilobytes of them), or nil.
    public init?(beginning bytes: some Collection<UInt8>) {
        var text = Substring(String(decoding: bytes, as: UTF8.self))
        if text.first == "\u{FEFF}" { text.removeFirst() }
        if text.drop(while: \.isWhitespace).first == "<" {
            guard text.contains("<gpx") else { return nil }
            self = .gpx
            return
        }
        for line in text.split(whereSeparator: \.isNewline) {
            if line.first == "{", line.contains("\"class\":") || line.contains("\"class\" :") {
                self = .gpsd
                return
            }
            if line.contains("\"_type\"") {
                self = .owntracks
                return
            }
            if NMEASentence(line.utf8) != nil {
                self = .nmea
                return
            }
        }
        return nil
    }

    /// Makes a decoder.
    public func makeDecoder() -> any TrackDecoder {
        switch self {
        case .gpx: GPXDecoder()
        case .nmea: NMEADecoder()
        case .gpsd: GPSDDecoder()
        case .owntracks: OwnTracksDecoder()
        }
    }
}
