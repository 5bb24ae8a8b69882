internal import Diagnostics
public import Sockets

/// The simulator's MQTT door: a listener whose connections are clients of the service.
public final class MQTTDoor: Sendable {
    /// The most connections at a time; more are closed at once.
    static let mostConnections = 1000

    private let listener: SocketListener
    private let service: SimulatedService

    /// The port that is in use, also when port 0 was asked for.
    public var port: Int { listener.port }

    /// Listens at once.
    public init(_ address: SocketAddress, service: SimulatedService) throws(SocketError) {
        self.service = service
        listener = try SocketListener(at: address, on: service.executor, writeLimit: 4 << 20) { connection in
            guard service.sessions.count < MQTTDoor.mostConnections else {
                service.log.warning("more than \(MQTTDoor.mostConnections) MQTT connections; one was closed")
                return
            }
            MQTTSession(connection, service: service).start()
        }
    }

    /// Stops listening.
    public func stop() async {
        await service.executor.run { self.listener.close() }
    }
}
