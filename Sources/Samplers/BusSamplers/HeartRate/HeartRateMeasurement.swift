/// One notification of a heart-rate strap: the characteristic Heart Rate Measurement, 0x2A37.
///
/// Layout (Bluetooth SIG, GATT Specification Supplement, "Heart Rate Measurement"): a byte of flags; the rate in one byte or
/// two; the energy in two, if flagged; then intervals between beats in two bytes each up to the end, the oldest first. All
/// little-endian.
public struct HeartRateMeasurement: Sendable, Hashable {
    /// Beats a minute; nil when the strap has no reading: it says 0, or that it does not touch the skin.
    public let beatsPerMinute: Int?
    /// Whether the strap touches the skin; nil when it cannot tell.
    public let hasContact: Bool?
    /// Energy since the last reset, in kilojoules, if it is told.
    public let energy: Int?
    /// The intervals between beats since the last notification, in seconds, the oldest first: none to nine.
    public let intervals: [Double]

    /// Decodes a notification; nil when it is too short for what its flags say.
    ///
    /// An odd byte at the end belongs to nothing and is dropped.
    public init?(_ bytes: some Collection<UInt8>) {
        var reader = ByteReader(bytes)
        guard let flags = reader.byte() else { return nil }
        let isWide = flags & 0x01 != 0
        guard let rate = isWide ? reader.word() : reader.byte().map(Int.init) else { return nil }
        if flags & 0x08 != 0 {
            guard let energy = reader.word() else { return nil }
            self.energy = energy
        } else {
            energy = nil
        }
        hasContact = flags & 0x04 != 0 ? flags & 0x02 != 0 : nil
        beatsPerMinute = rate == 0 || hasContact == false ? nil : rate
        var intervals: [Double] = []
        if flags & 0x10 != 0 {
            while let ticks = reader.word() { intervals.append(Double(ticks) / 1024) }
        }
        self.intervals = intervals
    }
}
