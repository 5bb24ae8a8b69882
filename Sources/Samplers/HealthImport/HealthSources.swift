internal import Glibc

/// Who wrote records: a phone, a watch, an app.
public struct HealthSource: Sendable, Hashable {
    /// What kind of device it is, as far as the export says.
    public enum Device: Int, Sendable, Hashable, Comparable {
        /// Worn on the wrist: it counts also while the phone lies on a table.
        case watch
        /// Carried.
        case phone
        /// An app, a scale, a person who typed.
        case other

        /// The order in which they are believed.
        public static func < (left: Device, right: Device) -> Bool { left.rawValue < right.rawValue }
    }

    /// Its name: the attribute `sourceName`, with plain blanks and apostrophes.
    public let name: String
    /// What it is.
    public let device: Device
}

/// The sources of an export, numbered in the order of their first records.
struct HealthSources {
    /// So many different ones; what comes after is counted as `other sources`.
    static let limit = 200

    private(set) var list: [HealthSource] = []
    /// How each was written in the file.
    private var spellings: [(bytes: [UInt8], index: Int)] = []
    private var newest = 0

    /// The number of the source; it is added when it is new.
    mutating func index(of name: ExportText, device: ExportText?) -> Int {
        if newest < spellings.count, Self.equals(spellings[newest].bytes, name) { return spellings[newest].index }
        for place in spellings.indices where Self.equals(spellings[place].bytes, name) {
            newest = place
            return spellings[place].index
        }
        let isFull = spellings.count >= Self.limit
        let text = isFull ? "other sources" : ExportValue.name(name)
        let index =
            list.firstIndex { $0.name == text }
            ?? {
                list.append(HealthSource(name: text, device: isFull ? .other : Self.kind(of: device, name: text)))
                return list.count - 1
            }()
        if !isFull {
            newest = spellings.count
            spellings.append((Array(name.bytes), index))
        }
        return index
    }

    private static func equals(_ bytes: [UInt8], _ text: ExportText) -> Bool {
        bytes.count == text.count && bytes.elementsEqual(text.bytes)
    }

    /// `device` holds a memory address that differs in each record, so only its words count.
    private static func kind(of device: ExportText?, name: String) -> HealthSource.Device {
        let words = device.map { ExportValue.name($0) } ?? ""
        for text in [words, name] {
            if text.contains("Watch") { return .watch }
            if text.contains("iPhone") { return .phone }
        }
        return .other
    }
}
