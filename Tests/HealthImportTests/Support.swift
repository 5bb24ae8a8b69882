import Foundation
import HealthImport

/// Days of Madrid in the two nights of 2024 in which the clocks were changed, and of UTC elsewhere.
struct FixedDays: LocalDays {
    /// The beginning of each day, and the day.
    let begins: [(seconds: Int64, day: LocalDay)]

    func day(of seconds: Int64) -> (day: LocalDay, span: Range<Int64>) {
        let index = begins.lastIndex { $0.seconds <= seconds } ?? 0
        return (begins[index].day, begins[index].seconds..<begins[index + 1].seconds)
    }

    /// The 30th and 31st of March (23 hours) and the 1st of April 2024.
    static let spring = FixedDays(begins: [
        (1_711_753_200, LocalDay(year: 2024, month: 3, day: 30)),
        (1_711_839_600, LocalDay(year: 2024, month: 3, day: 31)),
        (1_711_922_400, LocalDay(year: 2024, month: 4, day: 1)),
        (1_712_008_800, LocalDay(year: 2024, month: 4, day: 2)),
    ])

    /// The 26th, 27th (25 hours) and 28th of October 2024.
    static let autumn = FixedDays(begins: [
        (1_729_893_600, LocalDay(year: 2024, month: 10, day: 26)),
        (1_729_980_000, LocalDay(year: 2024, month: 10, day: 27)),
        (1_730_070_000, LocalDay(year: 2024, month: 10, day: 28)),
        (1_730_156_400, LocalDay(year: 2024, month: 10, day: 29)),
    ])
}

/// What was read of a document in memory, in pieces of `size` bytes.
func readExport(
    _ document: String,
    days: any LocalDays = SystemDays(),
    priority: [String] = [],
    size: Int = 1000,
    records: (HealthRecord) -> Void = { _ in }
) throws -> HealthReport {
    try readExport(Data(document.utf8), days: days, priority: priority, size: size, records: records)
}

func readExport(
    _ document: Data,
    days: any LocalDays = SystemDays(),
    priority: [String] = [],
    size: Int = 1000,
    records: (HealthRecord) -> Void = { _ in }
) throws -> HealthReport {
    var rest = document
    let export = try HealthExport("export.xml", calendar: days, priority: priority) { memory in
        let piece = rest.prefix(min(memory.count, size))
        piece.copyBytes(to: memory)
        rest = rest.dropFirst(piece.count)
        return piece.count
    }
    var found: [HealthRecord] = []
    while try export.next(&found) {
        for record in found { records(record) }
    }
    return try export.report()
}

/// A record as an export writes it.
func record(
    _ value: String,
    _ start: String,
    _ end: String,
    of type: String = "StepCount",
    source: String = "Phone",
    device: String? = nil,
    unit: String = "count"
) -> String {
    let device = device.map { " device=\"\($0)\"" } ?? ""
    return """
         <Record type="HKQuantityTypeIdentifier\(type)" sourceName="\(source)"\(device) unit="\(unit)" \
        startDate="\(start)" endDate="\(end)" value="\(value)"/>

        """
}

func makeExport(_ records: String...) -> String {
    "<?xml version=\"1.0\"?>\n<HealthData locale=\"en_GB\">\n" + records.joined() + "</HealthData>\n"
}
