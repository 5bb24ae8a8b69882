public import Diagnostics
internal import HTTPServer
internal import Sockets

/// What the simulator is started with.
public struct SimulatorConfiguration: Sendable {
    /// The address that the doors listen on.
    public var listen = "127.0.0.1"
    /// The port of the MQTT door; 0 picks a free one.
    public var mqttPort = 1883
    /// The port of REST and dashboards; 0 picks a free one.
    public var httpPort = 8080
    /// The port for faults and counters, always on loopback; nil is none, 0 a free one.
    public var controlPort: Int?
    /// Who may log in.
    public var accounts: [SimulatedAccount]
    /// Where the data is kept; nil is memory.
    public var dataFile: String?
    /// What goes wrong from the start.
    public var faults: [Fault] = []
    /// What is not known of the service.
    public var options = SimulatorOptions()
    /// Where the time comes from.
    public var time: any TimeSource = SystemTime()

    /// A simulator with these accounts and all else as usual.
    public init(accounts: [SimulatedAccount]) {
        self.accounts = accounts
    }
}

/// Adafruit IO on this machine: the service with its doors open.
public final class AdafruitIOSimulator: Sendable {
    /// The service behind the doors.
    public let service: SimulatedService
    /// The port of the MQTT door.
    public let mqttPort: Int
    /// The port of REST and dashboards.
    public let httpPort: Int
    /// The port for faults and counters.
    public let controlPort: Int?
    private let mqtt: MQTTDoor
    private let web: WebDoor
    private let control: ControlDoor?

    /// Opens all doors, or none.
    public init(_ configuration: SimulatorConfiguration, log: Log = .silent) throws(SimulatorError) {
        let faults = Faults(configuration.faults)
        let service = try SimulatedService(
            accounts: configuration.accounts,
            file: configuration.dataFile,
            options: configuration.options,
            faults: faults,
            time: configuration.time,
            log: log
        )
        do throws(HTTPServerError) {
            web = try WebDoor(
                .tcp(host: configuration.listen, port: configuration.httpPort),
                service: service,
                log: log
            )
        } catch {
            throw .http(error, option: "--http-port")
        }
        do throws(HTTPServerError) {
            control = try configuration.controlPort.map { (port) throws(HTTPServerError) in
                try ControlDoor(.tcp(host: "127.0.0.1", port: port), service: service, log: log)
            }
        } catch {
            throw .http(error, option: "--control-port")
        }
        do throws(SocketError) {
            mqtt = try MQTTDoor(.tcp(host: configuration.listen, port: configuration.mqttPort), service: service)
        } catch {
            throw .socket(error, option: "--mqtt-port")
        }
        self.service = service
        mqttPort = mqtt.port
        httpPort = web.port
        controlPort = control?.port
        service.executor.execute {
            for fault in configuration.faults { service.applyAtOnce(fault) }
        }
    }

    /// Closes every connection and every door.
    public func stop() async {
        await mqtt.stop()
        await service.stop()
        control?.stop()
        web.stop()
    }
}
