/// Counts the MQTT packets in a stream of bytes, however it is cut into pieces.
struct PacketCounter {
    private var counts = [Int](repeating: 0, count: 16)
    private var kind: UInt8?
    private var length = 0
    private var shift = 0
    private var hasLength = false

    /// Takes note of bytes that went on.
    mutating func pass(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes { _ = pass(byte) }
    }

    /// How many packets have gone on.
    private(set) var total = 0

    /// How many of these bytes it takes until `count` packets of `kind`, or of any, have gone on; nil: more than these.
    mutating func length(of bytes: ArraySlice<UInt8>, until count: Int, of kind: UInt8?) -> Int? {
        for (offset, byte) in bytes.enumerated() {
            guard let passed = pass(byte), kind.map({ $0 == passed }) ?? true else { continue }
            if kind.map({ counts[Int($0 & 15)] }) ?? total >= count { return offset + 1 }
        }
        return nil
    }

    /// The kind of the packet that ends with this byte.
    private mutating func pass(_ byte: UInt8) -> UInt8? {
        guard let kind else {
            kind = byte >> 4
            (length, shift, hasLength) = (0, 0, false)
            return nil
        }
        if hasLength {
            length -= 1
        } else {
            length |= Int(byte & 0x7f) << shift
            shift += 7
            // Four bytes at most: what is longer is no MQTT.
            hasLength = byte & 0x80 == 0 || shift == 28
        }
        guard hasLength, length == 0 else { return nil }
        counts[Int(kind)] += 1
        total += 1
        self.kind = nil
        return kind
    }
}
