/// Turns `Record` elements into records, and counts what it cannot use.
struct RecordDecoder {
    private(set) var sources = HealthSources()
    /// Records of our quantities that could not be used, and the first of them.
    private(set) var bad = 0
    private(set) var example = ""
    /// Records of other quantities.
    private(set) var others = 0

    private static var unnamed: ExportText {
        let name: StaticString = "unnamed"
        return ExportText(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }

    /// Longer than a month is no interval of steps but a mistake.
    private static let longest: Int64 = 31 * 86_400

    /// The record of an element, or nil when it is of another quantity or cannot be used.
    @inline(__always)
    mutating func decode(_ attributes: ExportAttributes) -> HealthRecord? {
        var type: ExportText?
        var unit: ExportText?
        var value: ExportText?
        var start: ExportText?
        var end: ExportText?
        var source: ExportText?
        var device: ExportText?
        for place in 0..<attributes.count {
            let attribute = attributes.list[place]
            switch attribute.name.count {
            case 4:
                if attribute.name == "type" {
                    type = attribute.value
                } else if attribute.name == "unit" {
                    unit = attribute.value
                }
            case 5: if attribute.name == "value" { value = attribute.value }
            case 6: if attribute.name == "device" { device = attribute.value }
            case 7: if attribute.name == "endDate" { end = attribute.value }
            case 8: if attribute.name == "end Date" { end = attribute.value }
            case 9: if attribute.name == "startDate" { start = attribute.value }
            case 10:
                if attribute.name == "sourceName" { source = attribute.value }
                if attribute.name == "start Date" { start = attribute.value }
            case 11: if attribute.name == "source Name" { source = attribute.value }
            default: break
            }
        }
        guard let quantity = type.flatMap(Self.quantity) else {
            others += 1
            return nil
        }
        guard let from = start.flatMap(ExportValue.time), let to = end.flatMap(ExportValue.time) else {
            return refuse("a \(quantity.word) record without a time that can be read")
        }
        guard from <= to, to - from <= Self.longest else {
            return refuse("a \(quantity.word) record that ends before it begins, or lasts over a month")
        }
        guard let amount = value.flatMap(ExportValue.amount), let factor = Self.factor(quantity, unit) else {
            return refuse("a \(quantity.word) record without a value that can be read")
        }
        return HealthRecord(
            quantity: quantity,
            value: amount * factor,
            start: from,
            end: to,
            source: sources.index(of: source ?? Self.unnamed, device: device)
        )
    }

    private mutating func refuse(_ what: String) -> HealthRecord? {
        bad += 1
        if example.isEmpty { example = what }
        return nil
    }

    private static func quantity(_ type: ExportText) -> HealthQuantity? {
        guard let name = type.dropping(prefix: "HKQuantityTypeIdentifier") else { return nil }
        switch name {
        case "StepCount": return .steps
        case "DistanceWalkingRunning": return .distance
        case "FlightsClimbed": return .floors
        case "HeartRate": return .heartRate
        default: return nil
        }
    }

    /// What a value in `unit` is multiplied by.
    private static func factor(_ quantity: HealthQuantity, _ unit: ExportText?) -> Double? {
        switch quantity {
        case .steps, .floors: return 1
        case .heartRate:
            guard let unit else { return 1 }
            switch unit {
            case "count/min", "bpm": return 1
            case "count/s", "Hz": return 60
            default: return nil
            }
        case .distance:
            guard let unit else { return nil }
            switch unit {
            case "km": return 1000
            case "m": return 1
            case "mi": return 1609.344
            case "ft": return 0.3048
            case "yd": return 0.9144
            case "cm": return 0.01
            default: return nil
            }
        }
    }
}
