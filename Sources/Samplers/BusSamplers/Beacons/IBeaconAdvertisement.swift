/// What an iBeacon says: manufacturer data of company 0x004C that begin with 02 15.
public struct IBeaconAdvertisement: Sendable, Hashable {
    /// Apple's company identifier, under which iBeacons advertise.
    public static let company: UInt16 = 0x004C

    /// The UUID in lower case, with dashes.
    public let uuid: String
    /// The first number.
    public let major: Int
    /// The second number.
    public let minor: Int
    /// The signal strength at 1 m in dBm; nil when the byte cannot be one, so that no distance can be told.
    public let measuredPower: Int?

    /// Decodes manufacturer data without the company identifier; nil when they are no iBeacon's.
    public init?(_ bytes: some Collection<UInt8>) {
        var reader = ByteReader(bytes)
        guard reader.byte() == 0x02, reader.byte() == 0x15, let uuid = reader.take(16), let major = reader.take(2),
            let minor = reader.take(2), let power = reader.signed(1)
        else { return nil }
        self.uuid = Self.text(uuid)
        self.major = Self.bigEndian(major)
        self.minor = Self.bigEndian(minor)
        // Beacons exist that put a battery level or nothing there.
        measuredPower = (-100 ... -20).contains(power) ? Int(power) : nil
    }

    private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var text = ""
        for (place, byte) in bytes.enumerated() {
            if place == 4 || place == 6 || place == 8 || place == 10 { text += "-" }
            let digits = String(byte, radix: 16)
            text += digits.utf8.count == 1 ? "0" + digits : digits
        }
        return text
    }
}
