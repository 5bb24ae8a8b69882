internal import KernelFiles
internal import Samples

/// `host.thermal.NAME` from `/sys/class/thermal`: the zones, called by their type.
final class ThermalSource: HostSource {
    private struct Zone {
        let kind: String
        /// Which of the zones of its type it is, by their numbers.
        let ordinal: Int
        var file: KernelFile
        var scale = ThermalScale()
        var isGone = false
    }

    let streams: [Stream]
    private let folder: String
    private var zones: [Zone]

    init(sys: String) {
        folder = "\(sys)/class/thermal"
        var names = UniqueNames()
        zones = ThermalSource.scan(folder).map { Zone(kind: $0.kind, ordinal: $0.ordinal, file: KernelFile($0.path)) }
        let field = Field(Name(mapping: "temperature"), unit: .degreesCelsius)
        streams = zones.map { Stream(names.name("host.thermal.", $0.kind), fields: [field]) }
    }

    func read(seconds: Double?, buffer: ReadBuffer, into readings: inout [HostReading]) {
        if zones.contains(where: \.isGone) { findAgain() }
        for place in zones.indices {
            do throws(KernelFailure) {
                var text = try zones[place].file.read(into: buffer)
                zones[place].isGone = false
                let value = text.number().map { zones[place].scale.value($0) } ?? .missing
                let isThere = value != .missing
                readings.append(
                    HostReading(
                        stream: place,
                        values: isThere ? [value] : nil,
                        condition: isThere
                            ? .ok : .missing("\(zones[place].file.path) reads as if no sensor were connected.")
                    )
                )
            } catch {
                zones[place].isGone = error == .gone
                let condition = error.condition(zones[place].file.path)
                readings.append(HostReading(stream: place, values: nil, condition: condition))
            }
        }
    }

    /// Zones get new numbers when their driver is loaded again.
    private func findAgain() {
        let found = ThermalSource.scan(folder)
        for place in zones.indices where zones[place].isGone {
            let zone = zones[place]
            guard let now = found.first(where: { $0.kind == zone.kind && $0.ordinal == zone.ordinal }) else { continue }
            zones[place].file = KernelFile(now.path)
        }
    }

    private static func scan(_ folder: String) -> [(kind: String, ordinal: Int, path: String)] {
        let prefix = "thermal_zone"
        let numbers = KernelFile.names(in: folder)
            .compactMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil }
            .sorted()
        var seen: [String: Int] = [:]
        return numbers.compactMap { number in
            let zone = "\(folder)/\(prefix)\(number)"
            guard let kind = KernelFile.line("\(zone)/type"), KernelFile.exists("\(zone)/temp") else { return nil }
            let ordinal = seen[kind, default: 0]
            seen[kind] = ordinal + 1
            return (kind, ordinal, "\(zone)/temp")
        }
    }
}
