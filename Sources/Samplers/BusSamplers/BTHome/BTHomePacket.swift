/// What a BTHome v2 sensor says: service data of UUID 0xFCD2, not encrypted.
///
/// Format and object ids: https://bthome.io/format. A byte of information, then objects: an id and a little-endian number of
/// the id's length. The length of an id that is not known here is not known either, so reading stops there; what came before
/// is right.
public struct BTHomePacket: Sendable, Hashable {
    /// Why service data are no packet that can be read.
    public enum Problem: Error, Sendable, Hashable {
        /// Nothing, or another version than 2.
        case notVersion2
        /// It needs a key.
        case encrypted
    }

    /// A measured value.
    public struct Reading: Sendable, Hashable {
        /// What it is, such as `temperature`.
        public let object: String
        /// The unit's symbol; empty for counts, events and yes or no.
        public let unit: String
        /// The value in that unit; yes is 1, no is 0.
        public let value: Double
    }

    /// The number of the packet, the same for repetitions, if it is told.
    public let packetID: Int?
    /// What was measured, in the order of the packet; one object may come several times.
    public let readings: [Reading]
    /// Whether it stopped at an object that is not known, or that is cut off.
    public let isCut: Bool

    /// Decodes service data.
    public init(_ bytes: some Collection<UInt8>) throws(Problem) {
        var reader = ByteReader(bytes)
        guard let information = reader.byte(), information >> 5 == 2 else { throw .notVersion2 }
        guard information & 0x01 == 0 else { throw .encrypted }
        var packetID: Int?
        var readings: [Reading] = []
        var isCut = false
        while let id = reader.byte() {
            guard let format = BTHomeFormat.formats[id], let number = format.read(&reader)
            else {
                isCut = true
                break
            }
            if id == BTHomeFormat.packetID {
                packetID = Int(number)
            } else {
                readings.append(Reading(object: format.object, unit: format.unit, value: number / format.divisor))
            }
        }
        self.packetID = packetID
        self.readings = readings
        self.isCut = isCut
    }
}
