internal import Diagnostics
internal import FastJSON
internal import PhoneSamplers
internal import Samples

/// `feedbridge sensors`: every stream with what it reads now.
public struct SensorsCommand: Command {
    private let json: Bool

    /// Makes the command.
    public init(json: Bool) {
        self.json = json
    }

    /// Reads every stream of the configuration, or of this machine when there is no configuration.
    ///
    /// What phones have said is known to the running bridge alone, and asked from it.
    public func run(_ context: CommandContext) async throws {
        let time = SystemTime()
        guard let path = try? ConfigurationFile.find(context.configurationFile, environment: context.environment)
        else {
            return show(await Self.read(SamplerFactory.found(time: time)), context)
        }
        let configuration = try ConfigurationFile.load(path)
        let samplers = try SamplerFactory.make(configuration, time: time).map(\.sampler)
        var report = await Self.read(samplers.filter { !($0 is PushSampler) })
        let phones = samplers.filter { $0 is PushSampler }
        if !phones.isEmpty {
            let told = await Self.ask(configuration, context)
            let own = await Self.read(phones).rows
            report.rows += told ?? own
        }
        show(report, context)
    }

    private static func read(_ samplers: [any Sampler]) async -> SensorReport {
        var rows: [(kind: String, reading: SensorReading)] = []
        for sampler in samplers {
            for reading in await sampler.readings() { rows.append((sampler.kind, reading)) }
        }
        return SensorReport(rows)
    }

    private static func ask(_ configuration: Configuration, _ context: CommandContext) async -> [JSON]? {
        guard let directory = try? StateDirectory(configuration, environment: context.environment) else { return nil }
        return try? await LocalClient(directory).call("GET", "/sensors").array
    }

    private func show(_ report: SensorReport, _ context: CommandContext) {
        context.output(json ? report.json.serialized() + "\n" : report.text)
    }
}
