internal import Diagnostics

/// A D-Bus of its own, with a real dbus-daemon, that ends with the value.
public final class PrivateBus: Sendable {
    /// Its address, for `DBUS_SYSTEM_BUS_ADDRESS`.
    public let address: String
    /// The folder that holds its socket.
    public let directory: TemporaryDirectory
    private let daemon: ChildProcess
    private let helpers = Guarded<[ChildProcess]>([])

    private init(address: String, directory: TemporaryDirectory, daemon: ChildProcess) {
        self.address = address
        self.directory = directory
        self.daemon = daemon
    }

    /// Starts a bus that lets everybody own every name.
    public static func start() async throws -> PrivateBus {
        let directory = TemporaryDirectory()
        try directory.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>system</type>
              <listen>unix:path=\(directory.file("bus"))</listen>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/><allow user="*"/>
              </policy>
            </busconfig>
            """,
            to: "bus.conf"
        )
        let configuration = "--config-file=\(directory.file("bus.conf"))"
        let daemon = try ChildProcess("dbus-daemon", [configuration, "--nofork", "--nopidfile", "--print-address"])
        try await daemon.untilOutput(contains: "\n")
        let address = "unix:path=\(directory.file("bus"))"
        return PrivateBus(address: address, directory: directory, daemon: daemon)
    }

    /// Runs a Python program with `python3-dbus` on this bus until the bus ends; returns when it has printed `ready`.
    @discardableResult
    public func run(_ script: String) async throws -> ChildProcess {
        // Debian's Python: it has the modules of Debian.
        let child = try ChildProcess(
            "/usr/bin/python3",
            ["-u", "-c", script],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": address]
        )
        helpers.withLock { $0.append(child) }
        try await child.untilOutput(contains: "ready\n")
        return child
    }

    /// Ends the bus at once.
    public func stop() {
        daemon.signal(9)
    }
}
