internal import BusSamplers
internal import Samples
internal import TOML

extension BluetoothConfiguration {
    init?(reading table: TableReader) {
        self.init()
        adapter = table.string("adapter")
        switch table.string("strap") {
        case nil: strap = .none
        case "any"?: strap = .any
        case let text?:
            guard let address = Self.address(text) else {
                table.problem(at: "strap", "strap must be \"any\" or an address such as \"11:22:33:44:55:66\"")
                return nil
            }
            strap = .address(address)
        }
        for text in table.strings("beacons") ?? [] {
            guard let beacon = Self.beacon(text) else {
                table.problem(
                    at: "beacons",
                    "beacons must be a list of \"any\", \"UUID\", \"UUID MAJOR\" or \"UUID MAJOR MINOR\", not \"\(text)\""
                )
                return nil
            }
            beacons.append(beacon)
        }
        if table.has("thermometers") {
            guard let entries = table.value("thermometers")?.table?.entries else {
                table.problem(
                    at: "thermometers",
                    "thermometers must be addresses with names: { \"A4:C1:38:00:11:22\" = \"kitchen\" }"
                )
                return nil
            }
            for entry in entries {
                guard let address = Self.address(entry.key), let name = entry.value.string.flatMap({ Name($0) }),
                    !thermometers.values.contains(name)
                else {
                    table.problem(
                        at: "thermometers",
                        "thermometers must be addresses with different names: { \"A4:C1:38:00:11:22\" = \"kitchen\" }"
                    )
                    return nil
                }
                thermometers[address] = name
            }
        }
        if streams.isEmpty {
            table.problem(at: "strap", "kind = \"bluetooth\" needs a strap, beacons or thermometers")
            return nil
        }
    }

    /// An address in upper case.
    private static func address(_ text: String) -> String? {
        let parts = text.uppercased().split(separator: ":", omittingEmptySubsequences: false)
        let isRight = parts.count == 6 && parts.allSatisfy { $0.utf8.count == 2 && UInt8($0, radix: 16) != nil }
        return isRight ? parts.joined(separator: ":") : nil
    }

    private static func beacon(_ text: String) -> Beacon? {
        if text == "any" { return Beacon() }
        let words = text.lowercased().split(separator: " ")
        guard (1...3).contains(words.count), words[0].utf8.count == 36,
            words[0].allSatisfy({ $0 == "-" || $0.isHexDigit })
        else { return nil }
        let numbers = words.dropFirst().map { UInt16($0).map(Int.init) }
        guard !numbers.contains(nil) else { return nil }
        return Beacon(
            uuid: String(words[0]),
            major: numbers.first ?? nil,
            minor: numbers.count > 1 ? numbers[1] : nil
        )
    }
}

extension TableReader {
    /// Which sensors of iio-sensor-proxy are wanted: all, unless they are named.
    func proxySensors() -> [String]? {
        guard let names = strings("sensors") else { return SensorProxySampler.sensorNames }
        let unknown = names.first { !SensorProxySampler.sensorNames.contains($0) }
        guard unknown == nil, !names.isEmpty else {
            let known = SensorProxySampler.sensorNames.map { "\"\($0)\"" }.joined(separator: ", ")
            problem(at: "sensors", "sensors must be some of \(known)")
            return nil
        }
        return names
    }
}
