/// The clients that are logged in.
///
/// Sendable: touched on the loop's thread only; sessions and doors live there.
final class SessionRegistry: @unchecked Sendable {
    private var clients: [Key: MQTTSession] = [:]
    private var waiting: [ObjectIdentifier: MQTTSession] = [:]
    /// Wills of clients that were lost, until they are sent.
    private var wills: [Key: Int] = [:]
    var ticker: Int?
    var hourTicker: Int?

    struct Key: Hashable {
        var account: String
        var client: String
    }

    /// Those that are logged in, in no order.
    var all: some Collection<MQTTSession> { clients.values }

    var count: Int { clients.count + waiting.count }

    /// Keeps a connection that has not said who it is.
    func add(_ session: MQTTSession) {
        waiting[ObjectIdentifier(session)] = session
    }

    /// Makes it a client of an account; the one of the same id that this replaces, and the number of its will.
    func login(_ session: MQTTSession, _ key: Key) -> (older: MQTTSession?, will: Int?) {
        waiting[ObjectIdentifier(session)] = nil
        let older = clients[key]
        clients[key] = session
        return (older, wills.removeValue(forKey: key))
    }

    /// Forgets a connection that is over.
    func remove(_ session: MQTTSession, _ key: Key?) {
        waiting[ObjectIdentifier(session)] = nil
        if let key, clients[key] === session { clients[key] = nil }
    }

    func setWill(_ number: Int?, of key: Key) {
        wills[key] = number
    }

    func closeAll() {
        for session in Array(clients.values) + Array(waiting.values) { session.closeQuietly() }
    }
}
