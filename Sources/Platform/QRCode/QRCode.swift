// Thread rule of libqrencode: a code belongs to whoever made it; encoding shares no state since version 4.
internal import CQREncode

/// A QR code: a square of dark and light modules that a phone's camera reads as a text.
public struct QRCode: Sendable, Equatable {
    /// Why a text has no code.
    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The text is too long, or has a NUL in it.
        case unusable

        /// What is wrong and what to do.
        public var description: String { "The text does not fit into a QR code. Use a shorter one." }
    }

    /// Modules on each side, without the light border around.
    public let width: Int
    private let modules: [Bool]

    /// Makes the code of a text, of the smallest size that holds it with medium error correction.
    public init(_ text: String) throws(Failure) {
        guard !text.isEmpty, !text.utf8.contains(0), let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1)
        else { throw .unusable }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        modules = (0..<width * width).map { code.pointee.data[$0] & 1 == 1 }
    }

    /// Whether the module in that place is dark; outside all are light.
    public func isDark(column: Int, row: Int) -> Bool {
        guard (0..<width).contains(column), (0..<width).contains(row) else { return false }
        return modules[row * width + column]
    }

    /// The code for a terminal, two rows in a line of half blocks, dark on white by ANSI colours, with its border of four.
    public func terminalLines() -> [String] {
        stride(from: -4, to: width + 4, by: 2).map { row in
            let cells = (-4..<width + 4).map { column in
                switch (isDark(column: column, row: row), isDark(column: column, row: row + 1)) {
                case (true, true): "\u{2588}"
                case (true, false): "\u{2580}"
                case (false, true): "\u{2584}"
                case (false, false): " "
                }
            }
            return "\u{1B}[30;107m\(cells.joined())\u{1B}[0m"
        }
    }
}
