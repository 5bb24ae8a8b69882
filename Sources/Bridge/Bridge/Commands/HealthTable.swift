internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import HealthImport

/// The days of an export, for people and for programs.
enum HealthTable {
    private static func number(_ amount: Double?, _ precision: Int) -> String? {
        amount.flatMap { CanonicalText.number($0, precision: precision) }
    }

    /// One line a day, all sources merged.
    static func text(_ report: HealthReport) -> String {
        guard !report.days.isEmpty else { return "There are no steps, distances, floors or heart rates in it.\n" }
        var text = "day          steps     km        floors   heart rate (lowest-highest)\n"
        for day in report.days {
            let totals = day.merged
            let rate = totals.heartRate.map { rate in
                "\(number(rate.mean, 0) ?? "") (\(number(rate.lowest, 0) ?? "")-\(number(rate.highest, 0) ?? ""))"
            }
            let cells = [
                (day.day.description, 13), (number(totals.steps, 0) ?? "-", 10),
                (number(totals.distance.map { $0 / 1000 }, 2) ?? "-", 10), (number(totals.floors, 0) ?? "-", 9),
            ]
            text += cells.map { $0.0.padded(to: $0.1) }.joined() + (rate ?? "-") + "\n"
        }
        return text
    }

    /// `[{"day","steps","distance","floors","heart_rate":{"mean","lowest","highest"},"sources":{NAME:{...}}}]`.
    static func json(_ report: HealthReport) -> String {
        let days = report.days.map { day in
            var object = totals(day.merged)
            object["day"] = .string(day.day.description)
            var sources = JSONObject()
            for (index, part) in day.bySource.sorted(by: { $0.key < $1.key }) {
                sources[report.sources[index].name] = .object(totals(part))
            }
            object["sources"] = .object(sources)
            return JSON.object(object)
        }
        return JSON.array(days).serialized() + "\n"
    }

    private static func totals(_ totals: HealthTotals) -> JSONObject {
        var object = JSONObject()
        func set(_ key: String, _ amount: Double?) {
            if let amount { object[key] = JSON((amount * 1000).rounded() / 1000) }
        }
        set("steps", totals.steps)
        set("distance", totals.distance)
        set("floors", totals.floors)
        if let rate = totals.heartRate {
            object["heart_rate"] = [
                "mean": JSON(rate.mean), "lowest": JSON(rate.lowest), "highest": JSON(rate.highest),
            ]
        }
        return object
    }
}
