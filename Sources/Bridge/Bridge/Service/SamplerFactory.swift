internal import Diagnostics
internal import HostSamplers
internal import ReplaySamplers
internal import Samples

/// Makes the samplers that the configuration names. Making one looks for its device or file, and starts nothing.
enum SamplerFactory {
    /// All samplers, or everything that is wrong with them.
    static func make(
        _ configuration: Configuration,
        time: any TimeSource
    ) throws(ConfigurationError) -> [(settings: Configuration.Sampler, sampler: any Sampler)] {
        var made: [(settings: Configuration.Sampler, sampler: any Sampler)] = []
        var problems: [ConfigurationProblem] = []
        var owners: [Name: Configuration.Sampler] = [:]
        for settings in configuration.samplers {
            func problem(_ text: String) {
                let position = settings.position
                problems.append(
                    ConfigurationProblem(
                        file: configuration.file,
                        line: position.line,
                        column: position.column,
                        text: text
                    )
                )
            }
            do {
                let sampler = try sampler(settings, time: time)
                for stream in sampler.streams {
                    if let owner = owners.updateValue(settings, forKey: stream.name) {
                        problem(
                            "stream \"\(stream.name)\" comes from the sampler in line \(owner.position.line) already; give this one another stream name"
                        )
                        break
                    }
                }
                made.append((settings, sampler))
            } catch {
                problem("\(error)")
            }
        }
        let derived = try configuration.makeDerivations()
        for (derivation, settings) in zip(derived, configuration.derivations) {
            let taken = owners.keys
            guard let stream = derivation.outputs.first(where: { taken.contains($0.name) }) else { continue }
            let position = settings.position
            problems.append(
                ConfigurationProblem(
                    file: configuration.file,
                    line: position.line,
                    column: position.column,
                    text: "stream \"\(stream.name)\" comes from a sampler already; it cannot be computed, too"
                )
            )
        }
        let streams = made.flatMap { $0.sampler.streams } + derived.flatMap(\.outputs)
        if problems.isEmpty { problems = configuration.ruleProblems(streams: streams) }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        return made
    }

    /// The streams of this machine.
    static func hostStreams() -> [Stream] {
        HostSampler().streams
    }

    /// This machine, for showing what it has when there is no configuration.
    static func host(time: any TimeSource) -> any Sampler {
        HostSampler(time: time)
    }

    private static func sampler(_ settings: Configuration.Sampler, time: any TimeSource) throws -> any Sampler {
        switch settings.kind {
        case .host(let every):
            HostSampler(every: every, time: time)
        case .replay(let replay):
            try ReplaySampler(replay, time: time)
        }
    }
}
