/// The window of a document that is in memory. It grows only for a tag that is longer than it.
final class ScanBuffer {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    private var count = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    deinit { memory.deallocate() }

    /// What is in it.
    var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(
            UnsafeMutableRawBufferPointer(rebasing: memory[..<count]).assumingMemoryBound(to: UInt8.self)
        )
    }

    /// Reads more behind what is in it; says how much.
    func fill(_ read: (UnsafeMutableRawBufferPointer) throws -> Int) throws -> Int {
        let more = try read(UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
        count += more
        return more
    }

    /// Forgets the first `consumed` bytes; false when it is full of one tag that is longer than the limit.
    func drop(_ consumed: Int) -> Bool {
        count -= consumed
        if consumed > 0, count > 0, let start = memory.baseAddress {
            start.copyMemory(from: start + consumed, byteCount: count)
        }
        guard count == memory.count else { return true }
        guard memory.count < limit else { return false }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: memory.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(memory))
        memory.deallocate()
        memory = larger
        return true
    }
}
