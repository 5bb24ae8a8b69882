/// Memory that all files of one reader are read into, one after the other.
public final class ReadBuffer {
    /// The memory.
    public private(set) var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)

    /// Makes room for the usual file.
    public init() {}

    deinit { memory.deallocate() }

    /// Doubles the room and keeps what is there.
    public func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: memory.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(memory))
        memory.deallocate()
        memory = larger
    }
}
