internal import FastJSON
internal import Samples

/// What an experiment of phyphox measures: its inputs, with the buffers that hold time and values.
struct PhyphoxExperiment: Sendable, Equatable {
    /// One sensor of the experiment.
    struct Input: Sendable, Equatable {
        let stream: Samples.Stream
        /// The buffer with the experiment's time in seconds.
        let time: String
        /// For each field its buffer; nil where there is none.
        let values: [String?]
        /// Whether the values are a distance that says near or far.
        let isProximity: Bool

        /// The buffers, the time last.
        var buffers: [String] { values.compactMap(\.self) + [time] }
    }

    let inputs: [Input]

    /// What phyphox calls a sensor, our stream, and what it calls the values in the order of the stream's fields.
    private static let sensors: [(source: String, stream: String, outputs: [String?])] = [
        ("accelerometer", "accelerometer", ["x", "y", "z"]),
        ("linear_acceleration", "user_acceleration", ["x", "y", "z"]),
        ("gravity", "gravity", ["x", "y", "z"]),
        ("gyroscope", "gyroscope", ["x", "y", "z"]),
        ("magnetic_field", "magnetometer", ["x", "y", "z"]),
        ("pressure", "pressure", ["x"]),
        ("temperature", "temperature", ["x"]),
        ("humidity", "humidity", ["x"]),
        ("light", "light", ["x"]),
        ("proximity", "proximity", ["x"]),
        ("location", "location", ["lat", "lon", "z", "accuracy", "v", "dir"]),
    ]

    /// Every stream that an experiment may have.
    static func streams(_ naming: StreamNaming) -> [Samples.Stream] {
        sensors.map { naming.known($0.stream) }
    }

    /// Reads the answer to `/config`; nil when there is no sensor with time and value in it.
    init?(_ config: JSON, naming: StreamNaming) {
        var inputs: [Input] = []
        for input in config["inputs"]?.array ?? [] {
            guard let source = input["source"]?.string,
                let sensor = Self.sensors.first(where: { $0.source == source })
            else { continue }
            var outputs: [String: String] = [:]
            for output in input["outputs"]?.array ?? [] {
                for (key, buffer) in output.object ?? JSONObject() {
                    if let buffer = buffer.string, !buffer.isEmpty { outputs[key] = buffer }
                }
            }
            let stream = naming.known(sensor.stream)
            let values = sensor.outputs.map { $0.flatMap { outputs[$0] } }
            guard let time = outputs["t"], values.contains(where: { $0 != nil }),
                !inputs.contains(where: { $0.stream == stream })
            else { continue }
            inputs.append(
                Input(stream: stream, time: time, values: values, isProximity: sensor.source == "proximity")
            )
        }
        guard !inputs.isEmpty else { return nil }
        self.inputs = inputs
    }
}
