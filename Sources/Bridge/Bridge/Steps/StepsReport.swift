internal import Diagnostics
internal import FastJSON
internal import Recorder
internal import Samples

/// The totals of an interval, read page by page.
struct StepsReport {
    /// So far back the last total before the interval is looked for.
    private static let lookBack: Duration = .seconds(600)
    /// Floors are rare.
    private static let floorsLookBack: Duration = .seconds(7 * 86_400)

    private(set) var totals = StepTotals()
    private var up: Int64?
    private var down: Int64?
    private let from: Timestamp
    private let to: Timestamp

    private init(from: Timestamp, to: Timestamp) {
        self.from = from
        self.to = to
    }

    /// Reads the totals from `from` to `to`; a recording without floors is as good.
    static func read(
        _ reader: RecordingReader,
        steps: Name,
        floors: Name,
        from: Timestamp,
        to: Timestamp
    ) async throws -> StepsReport {
        var report = StepsReport(from: from, to: to)
        try await report.readSteps(reader, steps)
        try await report.readFloors(reader, floors)
        return report
    }

    private mutating func readSteps(_ reader: RecordingReader, _ steps: Name) async throws {
        let from = from
        try await read(reader, steps, ["count", "distance", "cadence", "pace"], back: StepsReport.lookBack) {
            report,
            time,
            values in
            guard let count = values[0]?.number.flatMap({ Int64(exactly: $0.rounded()) }) else { return }
            if time < from {
                report.totals.begin(count: count, distance: values[1]?.number)
            } else {
                report.totals.add(
                    time,
                    count: count,
                    distance: values[1]?.number,
                    cadence: values[2]?.number,
                    pace: values[3]?.number
                )
            }
        }
    }

    private mutating func readFloors(_ reader: RecordingReader, _ floors: Name) async throws {
        var before: (up: Int64, down: Int64)?
        do {
            try await read(reader, floors, ["up", "down"], back: StepsReport.floorsLookBack) {
                [from] report, time, values in
                guard let up = values[0]?.number.flatMap({ Int64(exactly: $0.rounded()) }),
                    let down = values[1]?.number.flatMap({ Int64(exactly: $0.rounded()) })
                else { return }
                if time >= from {
                    // A sample is one floor, when nothing is known from before.
                    let start: (up: Int64, down: Int64) = before ?? (up > 0 ? (up - 1, down) : (0, max(0, down - 1)))
                    report.up = (report.up ?? 0) + (up >= start.up ? up - start.up : up)
                    report.down = (report.down ?? 0) + (down >= start.down ? down - start.down : down)
                }
                before = (up, down)
            }
        } catch RecorderError.noSuchStream {
            // Without a barometer there are no floors.
        }
    }

    private mutating func read(
        _ reader: RecordingReader,
        _ stream: Name,
        _ fields: [String],
        back: Duration,
        _ take: (inout StepsReport, Timestamp, [Value?]) -> Void
    ) async throws {
        var position: SamplePage.Position?
        repeat {
            let page = try await reader.page(of: stream, from: from - back, to: to, at: position)
            let places = fields.map { field in page.columns.firstIndex { $0.field.text == field } }
            for (row, time) in page.times.enumerated() {
                take(&self, time, places.map { $0.map { page.values[row * page.columns.count + $0] } })
            }
            position = page.next
        } while position != nil
    }

    /// The line of JSON.
    var text: String {
        let report: JSON = [
            "from": .string(from.description), "to": .string(to.description),
            "steps": JSON(Int(totals.steps)), "distance_m": JSON(Optional(totals.metres)),
            "active_s": JSON(Optional(totals.active.inSeconds)), "active_pace_s_m": JSON(totals.activePace),
            "cadence": JSON(totals.cadence), "pace_s_m": JSON(totals.pace),
            "floors_ascended": JSON(up.map { Int($0) }), "floors_descended": JSON(down.map { Int($0) }),
        ]
        return report.serialized()
    }
}
