internal import Alerts
internal import DataPoints
internal import Diagnostics
internal import Samples

/// Does what alerts ask for. Nothing in here waits: points go to the outbox, programs run beside.
struct AlertExecutor: Sendable {
    let commands: CommandRunner
    let log: Log
    /// Takes points.
    let publish: @Sendable ([DataPoint]) -> Void
    /// Starts or stops the recording, in the name of an alert.
    let record: @Sendable (Bool) -> Void

    func execute(_ notices: [AlertNotice]) {
        for notice in notices {
            switch notice.action {
            case .publish(let feed, let text):
                var value = notice.filled(text)
                while value.utf8.count > PointLimits.valueBytes { value.removeLast() }
                publish([DataPoint(feed: feed, value: value, createdAt: notice.time)])
            case .log:
                log.warning(notice.sentence)
            case .run(let command):
                commands.run(command, environment: notice.environment)
            case .session(.record):
                record(notice.isBegin)
            case .session(.start):
                if notice.isBegin { record(true) }
            case .session(.stop):
                if notice.isBegin { record(false) }
            }
        }
    }
}
