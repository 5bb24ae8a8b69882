/// Where the elements of a scan lie.
///
/// As the kernel does it: by rising index, each aligned to its own size (all its repeats together), the time last, the
/// whole padded to the largest.
struct ScanLayout: Sendable, Equatable {
    struct Element: Sendable, Equatable {
        let channel: ChannelName
        let type: ScanType
        var offset = 0
    }

    /// The elements in their order, without the time.
    private(set) var elements: [Element] = []
    /// The time, if it is there.
    private(set) var timestamp: Element?
    /// The bytes of a scan.
    private(set) var size = 0

    /// Lays out the enabled channels; the order of `channels` does not matter, their index does.
    init(_ channels: [(channel: ChannelName, index: Int, type: ScanType)]) {
        var largest = 1
        func place(_ type: ScanType) -> Int {
            let offset = (size + type.size - 1) / type.size * type.size
            size = offset + type.size
            largest = max(largest, type.size)
            return offset
        }
        let sorted = channels.sorted { ($0.index, $0.channel.base) < ($1.index, $1.channel.base) }
        for (channel, _, type) in sorted where channel.type != "timestamp" {
            elements.append(Element(channel: channel, type: type, offset: place(type)))
        }
        // The kernel takes 64-bit times only; anything else would be a driver that lies about its layout.
        if let time = sorted.first(where: { $0.channel.type == "timestamp" && $0.type.size == 8 }) {
            timestamp = Element(channel: time.channel, type: time.type, offset: place(time.type))
        }
        size = (size + largest - 1) / largest * largest
    }
}
