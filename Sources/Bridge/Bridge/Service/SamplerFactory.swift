internal import BusSamplers
internal import Diagnostics
internal import HostSamplers
internal import IIOSamplers
internal import ImageSamplers
internal import PhoneSamplers
internal import ReplaySamplers
internal import Samples
internal import SecretBox

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
        var known: [Name: Samples.Stream] = [:]
        // No name from outside may take the stream of another source.
        let names = configuration.samplers.map { settings in
            (try? sampler(settings, configuration, reserved: [], time: time))?.streams.map(\.name) ?? []
        }
        for (place, settings) in configuration.samplers.enumerated() {
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
                let others = names.enumerated().filter { $0.offset != place }.flatMap(\.element)
                let sampler = try sampler(settings, configuration, reserved: Set(others), time: time)
                for stream in sampler.streams {
                    // Apps may well speak of one phone; devices of one kind have names of their own.
                    if let other = known[stream.name], other == stream, settings.kind.isPush,
                        owners[stream.name]?.kind.isPush == true
                    {
                        continue
                    }
                    known[stream.name] = stream
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

    /// Opens the encrypted messages of OwnTracks.
    private static func box(_ push: PushConfiguration, _ configuration: String) throws -> SecretBox? {
        guard case .ownTracks(_, let file?) = push.app else { return nil }
        guard let box = SecretBox(try HTTPToken.read(file, configuration, least: 1, keepsSpaces: true)) else {
            throw CommandError(
                "secret_file \(file) must hold the app's encryption key: 1 to 32 characters",
                exitCode: 2
            )
        }
        return box
    }

    /// The streams of this machine.
    static func hostStreams() -> [Stream] {
        HostSampler().streams
    }

    /// The sensors of Industrial I/O on this machine.
    static func sensors() -> [IIODescription] {
        IIODescription.all()
    }

    /// This machine, for showing what it has when there is no configuration.
    static func found(time: any TimeSource) -> [any Sampler] {
        let host: any Sampler = HostSampler(time: time)
        guard let sensors = try? IIOSampler(IIOConfiguration(), time: time) else { return [host] }
        return [host, sensors]
    }

    private static func sampler(
        _ settings: Configuration.Sampler,
        _ configuration: Configuration,
        reserved: Set<Name>,
        time: any TimeSource
    ) throws -> any Sampler {
        switch settings.kind {
        case .host(let every):
            HostSampler(every: every, time: time)
        case .iio(let iio):
            try IIOSampler(iio, time: time)
        case .image(let image):
            ImageSampler(image, time: time)
        case .replay(let replay):
            try ReplaySampler(replay, time: time)
        case .push(let push):
            PushSampler(
                push,
                reserved: reserved,
                box: try box(push, configuration.file),
                time: time
            )
        case .bluetooth(let bluetooth):
            BluetoothSampler(bluetooth, time: time)
        case .sensorProxy(let sensors):
            SensorProxySampler(sensors, time: time)
        case .phyphox(let phyphox):
            PhyphoxSampler(phyphox, time: time)
        }
    }
}
