internal import Diagnostics
internal import Outbox
internal import Publisher
internal import Samples

/// The numbers of `status` in Prometheus's text format, version 0.0.4.
enum MetricsText {
    static func text(_ status: StatusReport) -> String {
        var lines: [String] = []
        func metric(_ name: String, _ kind: String, _ help: String, _ values: [(labels: String, value: Double)]) {
            guard !values.isEmpty else { return }
            lines.append("# HELP feedbridge_\(name) \(help)")
            lines.append("# TYPE feedbridge_\(name) \(kind)")
            for (labels, value) in values { lines.append("feedbridge_\(name)\(labels) \(value)") }
        }
        func one(_ value: Double) -> [(labels: String, value: Double)] { [("", value)] }

        let points = status.points
        metric("link_up", "gauge", "Whether there is a link for data points.", one(status.isUp ? 1 : 0))
        metric("recording", "gauge", "Whether a session is being recorded.", one(status.session == nil ? 0 : 1))
        metric(
            "points_total",
            "counter",
            "Data points by what became of them.",
            [
                ("{state=\"accepted\"}", Double(points.accepted)), ("{state=\"confirmed\"}", Double(points.confirmed)),
                ("{state=\"refused\"}", Double(points.refused)), ("{state=\"evicted\"}", Double(points.evicted)),
            ]
        )
        metric("points_pending", "gauge", "Data points that wait.", one(Double(points.pending)))
        metric(
            "budget_limit",
            "gauge",
            "Data points a minute that may be sent.",
            status.delivery.limit.map { one(Double($0)) } ?? []
        )
        metric("budget_used", "gauge", "Data points sent in the last minute.", one(Double(status.delivery.used)))

        let streams = status.streams.sorted { $0.key < $1.key }
        func each(_ value: (Name, StreamMonitor) -> Double?) -> [(labels: String, value: Double)] {
            streams.compactMap { name, monitor in value(name, monitor).map { ("{stream=\"\(name)\"}", $0) } }
        }
        metric("samples_total", "counter", "Samples with a value.", each { Double($1.good) })
        metric("samples_bad_total", "counter", "Input that could not be used.", each { Double($1.bad) })
        metric("samples_late_total", "counter", "Samples out of order.", each { Double($1.late) })
        metric(
            "samples_dropped_total",
            "counter",
            "Samples a full buffer dropped.",
            each { name, _ in
                Double(status.drops[name] ?? 0)
            }
        )
        metric(
            "sample_age_seconds",
            "gauge",
            "Time since the last sample.",
            each { $1.age(at: status.boot)?.inSeconds }
        )
        return lines.joined(separator: "\n") + "\n"
    }
}
