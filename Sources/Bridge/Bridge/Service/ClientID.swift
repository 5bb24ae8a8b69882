internal import FoundationEssentials

/// The client id of a bridge: the same on each connection, different on each machine and for each name.
///
/// Adafruit IO disconnects the older of two clients with one id at once, so it must be no one else's. The machine's id
/// itself is confidential (machine-id(5)), so only a hash of it leaves the machine.
enum ClientID {
    static func text(name: String) -> String {
        let machine = (try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8)) ?? InitCommand.bridgeName
        // FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "feedbridge \(machine) \(name)".utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        let hexadecimal = String(hash, radix: 16)
        return "feedbridge-\(name.prefix(32))-\(hexadecimal)"
    }
}
