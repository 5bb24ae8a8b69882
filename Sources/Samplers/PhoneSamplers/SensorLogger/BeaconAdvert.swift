internal import Samples

/// An iBeacon's advertisement as an app passes it on: hexadecimal, with the company's id in front.
struct BeaconAdvert: Sendable, Equatable {
    let uuid: String
    let major: UInt16
    let minor: UInt16
    /// The signal at one metre, in dBm; nil where the beacon tells nonsense.
    let power: Int8?

    /// Nil when the data are of another company or kind, or no hexadecimal text.
    init?(manufacturerData text: String) {
        let digits = Array(text.utf8.prefix(50))
        guard digits.count == 50 else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: 50, by: 2) {
            guard let byte = UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        guard bytes.prefix(4).elementsEqual([0x4C, 0x00, 0x02, 0x15]) else { return nil }
        let hexadecimal = String(decoding: digits[8..<40], as: UTF8.self).lowercased()
        var groups: [Substring] = []
        var rest = hexadecimal[...]
        for length in [8, 4, 4, 4, 12] {
            groups.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        uuid = groups.joined(separator: "-")
        major = UInt16(bytes[20]) << 8 | UInt16(bytes[21])
        minor = UInt16(bytes[22]) << 8 | UInt16(bytes[23])
        let told = Int8(bitPattern: bytes[24])
        power = (-100 ... -20).contains(told) ? told : nil
    }

    /// The values of the stream `beacon`; a signal of 0 or 127 dBm is none.
    func values(rssi: Double?) -> [Value] {
        let signal = rssi.flatMap { $0 < 0 ? $0 : nil }
        return [
            .text(uuid), .integer(Int64(major)), .integer(Int64(minor)), .number(signal),
            .number(power.map { Double($0) }),
        ]
    }
}
