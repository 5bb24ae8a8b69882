/// The sum FNV-1a (draft-eastlake-fnv), folded to 32 bits: quick over short texts.
package struct FNV: Sendable {
    private var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The sum of what was added.
    package var sum: Int64 { Int64((hash >> 32) ^ (hash & 0xffff_ffff)) }

    /// No sum yet.
    package init() {}

    /// Adds a number.
    package mutating func add(_ number: Int64) {
        var rest = UInt64(bitPattern: number)
        for _ in 0..<8 {
            mix(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Adds a text with its end.
    package mutating func add(_ text: String) {
        for byte in text.utf8 { mix(byte) }
        // The end counts, so that what stands at a border cannot change sides.
        mix(0xff)
    }

    private mutating func mix(_ byte: UInt8) {
        hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
}
