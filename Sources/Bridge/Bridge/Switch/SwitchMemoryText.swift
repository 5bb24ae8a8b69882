internal import Control
internal import FoundationEssentials

/// The switch's memory as text, for the state file.
enum SwitchMemoryText {
    static func text(_ memory: SwitchMemory) throws -> String {
        String(decoding: try JSONEncoder().encode(memory), as: UTF8.self)
    }

    /// Reads it back; nil when it is of another version or broken, which counts as a first run.
    static func memory(_ text: String) -> SwitchMemory? {
        try? JSONDecoder().decode(SwitchMemory.self, from: Data(text.utf8))
    }
}
