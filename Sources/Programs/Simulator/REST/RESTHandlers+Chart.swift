internal import AdafruitIO
internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import HTTPServer

extension RESTHandlers {
    private static let resolutions = [1, 5, 10, 30, 60, 120, 240, 480, 960]
    private static let fields = ["avg", "sum", "val", "min", "max", "val_count"]
    private static let mostRows = 480

    /// A feed's numbers, gathered into spans of equal length.
    func chartData() throws(RESTError) -> HTTPResponse {
        let feed = try feed()
        let end = try call.time("end_time") ?? call.now
        let hours = call.query("hours").flatMap(Double.init) ?? 1
        let start = try call.time("start_time") ?? (end - .seconds(hours * 3600))
        let field = call.query("field") ?? "avg"
        guard Self.fields.contains(field) else {
            throw RESTError(400, "request failed - field is one of \(Self.fields.joined(separator: ", "))")
        }
        let isRaw = ["1", "true"].contains(call.query("raw") ?? "")
        let resolution = try resolution(for: end - start)

        var query = DataQuery()
        query.start = start
        query.end = end
        query.limit = 100_000
        let wanted = query
        let newestFirst = try asREST { () throws(StoreError) in try store.data(feed, wanted) }
        let points = newestFirst.reversed().compactMap { datum in
            FeedPayload.number(in: datum.value).map { (time: datum.createdAt, number: $0, text: datum.value) }
        }
        let rows: [JSON]
        if isRaw {
            rows = points.suffix(Self.mostRows).map { [.string($0.time.inSecondsText), .string($0.text)] }
        } else {
            let span = Int64(resolution) * 60_000_000_000
            rows = Self.gather(points.map { ($0.time.nanoseconds / span, $0.number) }).suffix(Self.mostRows).map {
                row in
                let time = Timestamp(nanoseconds: row.span * span)
                let value = CanonicalText.number(row.value(of: field)) ?? "0"
                return [.string(time.inSecondsText), .string(value)]
            }
        }
        return reply([
            "feed": ["id": JSON(Int(feed.id)), "key": .string(feed.fullKey), "name": .string(feed.name)],
            "parameters": [
                "start_time": .string(start.inSecondsText), "end_time": .string(end.inSecondsText),
                "resolution": JSON(resolution), "hours": JSON((end - start).inSeconds / 3600), "field": .string(field),
            ],
            "columns": ["date", .string(isRaw ? "value" : field)],
            "data": .array(rows),
        ])
    }

    /// The minutes of one span: as asked for, else the least that needs no more rows than a chart may have.
    private func resolution(for length: Duration) throws(RESTError) -> Int {
        if let text = call.query("resolution") {
            guard let minutes = Int(text), Self.resolutions.contains(minutes) else {
                let choices = Self.resolutions.map(String.init).joined(separator: ", ")
                throw RESTError(400, "request failed - resolution is one of \(choices)")
            }
            return minutes
        }
        let minutes = length.inSeconds / 60
        return Self.resolutions.first { minutes / Double($0) <= Double(Self.mostRows) } ?? 960
    }

    private struct Gathered {
        let span: Int64
        var count = 0
        var sum = 0.0
        var low = Double.infinity
        var high = -Double.infinity
        var last = 0.0

        func value(of field: String) -> Double {
            switch field {
            case "sum": sum
            case "min": low
            case "max": high
            case "val": last
            case "val_count": Double(count)
            default: sum / Double(count)
            }
        }
    }

    private static func gather(_ points: [(span: Int64, number: Double)]) -> [Gathered] {
        var rows: [Gathered] = []
        for point in points {
            if rows.last?.span != point.span { rows.append(Gathered(span: point.span)) }
            var row = rows.removeLast()
            row.count += 1
            row.sum += point.number
            row.low = min(row.low, point.number)
            row.high = max(row.high, point.number)
            row.last = point.number
            rows.append(row)
        }
        return rows
    }
}
