internal import KernelFiles
internal import Samples

/// `host.load` from `/proc/loadavg`, `host.uptime` from `/proc/uptime`: a file of numbers, a stream of as many fields.
final class NumbersSource: HostSource {
    let streams: [Stream]
    private let file: KernelFile

    /// Nil when there is no such file.
    init?(_ path: String, _ stream: Stream) {
        guard KernelFile.exists(path) else { return nil }
        file = KernelFile(path)
        streams = [stream]
    }

    static func load(proc: String) -> NumbersSource? {
        let fields = ["one_minute", "five_minutes", "fifteen_minutes"].map { Field(Name(mapping: $0)) }
        return NumbersSource("\(proc)/loadavg", Stream(Name(mapping: "host.load"), fields: fields))
    }

    static func uptime(proc: String) -> NumbersSource? {
        let field = Field(Name(mapping: "seconds"), unit: .seconds)
        return NumbersSource("\(proc)/uptime", Stream(Name(mapping: "host.uptime"), fields: [field]))
    }

    func read(seconds: Double?, buffer: ReadBuffer, into readings: inout [HostReading]) {
        do throws(KernelFailure) {
            var text = try file.read(into: buffer)
            let values = streams[0].fields.map { _ in text.number().map { Value($0) } ?? .missing }
            readings.append(HostReading(stream: 0, values: values, condition: .ok))
        } catch {
            readings.append(HostReading(stream: 0, values: nil, condition: error.condition(file.path)))
        }
    }
}
