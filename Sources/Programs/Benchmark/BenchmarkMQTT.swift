internal import MQTT

/// Publishes `--count` small messages at QoS `--qos` to `--topic`, and prints how long that took.
///
/// `--window` messages may be on their way at a time. `--tasks` above 0: so many tasks publish one message after the other
/// instead of one batch.
func benchmarkMQTT(_ options: Options) async throws {
    var configuration = MQTTConfiguration(host: options.text("host", "127.0.0.1"), port: try options.number("port"))
    configuration.inFlightWindow = try options.number("window", 20)
    let count = try options.number("count", 60_000)
    let topic = options.text("topic", "benchmark")
    guard let qos = MQTTQoS(rawValue: UInt8(clamping: try options.number("qos", 1))) else {
        throw BenchmarkError("--qos is 0, 1 or 2")
    }
    let tasks = try options.number("tasks", 0)
    let connection = try await MQTTConnection.connect(configuration)
    let messages = (0..<count).map {
        MQTTPublication(topic: topic, payload: Array("message \($0)".utf8), qos: qos)
    }

    let start = ContinuousClock.now
    var failures = 0
    if tasks == 0 {
        failures = await connection.publish(messages).count { $0 != nil }
    } else {
        failures = await withTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var failures = 0
                    for index in stride(from: task, to: count, by: tasks) {
                        let message = messages[index]
                        do {
                            try await connection.publish(message.payload, to: message.topic, qos: message.qos)
                        } catch {
                            failures += 1
                        }
                    }
                    return failures
                }
            }
            return await group.reduce(0, +)
        }
    }
    let elapsed = ContinuousClock.now - start
    await connection.disconnect()

    let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    let rate = Int(Double(count) / seconds)
    print(#"{"benchmark":"mqtt","count":\#(count),"failures":\#(failures),"seconds":\#(seconds),"rate":\#(rate)}"#)
}
