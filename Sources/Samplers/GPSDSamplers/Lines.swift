/// Cuts bytes into lines, wherever the pieces end; a line that is too long is counted and skipped.
struct Lines {
    /// gpsd's longest objects list some fifty satellites and have about 10 kB.
    static let longest = 65_536

    /// How many lines were too long.
    private(set) var tooLong = 0
    private var rest: [UInt8] = []
    private var isSkipping = false

    /// Calls `body` with each line that ends in `bytes`, without its line feed and carriage return.
    mutating func add(_ bytes: UnsafeRawBufferPointer, isLast: Bool, _ body: (Slice<UnsafeRawBufferPointer>) -> Void) {
        var start = 0
        while let feed = bytes[start...].firstIndex(of: 0x0A) {
            finish(bytes[start..<feed], body)
            start = feed + 1
        }
        let tail = bytes[start...]
        if !isSkipping {
            if rest.count + tail.count > Lines.longest {
                isSkipping = true
                tooLong += 1
                rest.removeAll(keepingCapacity: true)
            } else {
                rest.append(contentsOf: tail)
            }
        }
        if isLast, !rest.isEmpty || isSkipping { finish(bytes[bytes.count...], body) }
    }

    private mutating func finish(
        _ end: Slice<UnsafeRawBufferPointer>,
        _ body: (Slice<UnsafeRawBufferPointer>) -> Void
    ) {
        defer {
            rest.removeAll(keepingCapacity: true)
            isSkipping = false
        }
        guard !isSkipping else { return }
        guard rest.count + end.count <= Lines.longest else {
            tooLong += 1
            return
        }
        if rest.isEmpty {
            body(Lines.trimmed(end))
        } else {
            rest.append(contentsOf: end)
            rest.withUnsafeBytes { body(Lines.trimmed($0[...])) }
        }
    }

    private static func trimmed(_ line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        line.last == 0x0D ? line.dropLast() : line
    }
}

/// Counts what could not be used and keeps the first as an example.
struct Rejections {
    private(set) var count = 0
    private(set) var example: String?

    mutating func add(_ sentence: @autoclosure () -> String) {
        count += 1
        if example == nil { example = sentence() }
    }
}
