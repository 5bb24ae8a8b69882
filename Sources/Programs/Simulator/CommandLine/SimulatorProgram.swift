internal import AdafruitIO
public import Diagnostics
internal import FastJSON
internal import Glibc

/// The program's life: from what was typed to the ready line, and to the end.
public final class SimulatorProgram: Sendable {
    private let simulator: AdafruitIOSimulator
    private let temporaryKeyFile: String?
    /// The line that says the doors are open.
    public let readyLine: String

    /// Opens the doors.
    public init(_ arguments: SimulatorArguments, log: Log) throws(SimulatorError) {
        var accounts: [SimulatedAccount] = []
        let name = arguments.username ?? "local"
        var keyFile = arguments.keyFile
        var temporary: String?
        let key: Secret
        if let typed = arguments.key {
            key = Secret(typed)
        } else if let file = arguments.keyFile {
            key = try KeyFile.key(in: file)
        } else {
            let made = try KeyFile.makeTemporary()
            (temporary, keyFile, key) = (made.file, made.file, made.key)
        }
        temporaryKeyFile = temporary
        do throws(SimulatorError) {
            accounts.append(SimulatedAccount(name: name, key: key, plan: arguments.plan))
            for account in arguments.accounts {
                let plan = account.plan ?? arguments.plan
                accounts.append(
                    SimulatedAccount(name: account.name, key: try KeyFile.key(in: account.keyFile), plan: plan)
                )
            }
            var configuration = SimulatorConfiguration(accounts: accounts)
            configuration.listen = arguments.listen
            configuration.mqttPort = arguments.mqttPort
            configuration.httpPort = arguments.httpPort
            configuration.controlPort = arguments.controlPort
            configuration.dataFile = arguments.dataFile
            configuration.faults = arguments.faults
            configuration.options = arguments.options
            simulator = try AdafruitIOSimulator(configuration, log: log)
        } catch {
            if let temporary { KeyFile.removeTemporary(temporary) }
            throw error
        }
        let line: JSON = [
            "mqtt_port": JSON(simulator.mqttPort), "http_port": JSON(simulator.httpPort),
            "control_port": JSON(simulator.controlPort),
            "dashboard": .string("http://\(Self.host(arguments.listen)):\(simulator.httpPort)/"),
            "username": .string(name), "key_file": JSON(keyFile), "pid": JSON(Int(getpid())),
        ]
        readyLine = line.serialized() + "\n"
    }

    /// Closes the doors and removes what was made for this run.
    public func stop() async {
        await simulator.stop()
        if let temporaryKeyFile { KeyFile.removeTemporary(temporaryKeyFile) }
    }

    /// An address that a browser on this machine can open.
    private static func host(_ listen: String) -> String {
        switch listen {
        case "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: listen.contains(":") ? "[\(listen)]" : listen
        }
    }
}
