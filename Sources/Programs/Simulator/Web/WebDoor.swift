public import Diagnostics
public import HTTPServer

/// The simulator's HTTP door: the REST interface, and the dashboards for browsers.
public final class WebDoor: Sendable {
    private let server: HTTPServer

    /// The port that is in use, also when port 0 was asked for.
    public var port: Int { server.port }

    /// Listens at once.
    public init(_ address: HTTPListenAddress, service: SimulatedService, log: Log) throws(HTTPServerError) {
        let rest = RESTInterface(service: service, log: log)
        let pages = DashboardDoor(service: service)
        let methods: [HTTPMethod] = [.get, .post, .put, .patch, .delete]
        var limits = HTTPLimits()
        limits.connections = 256
        server = try HTTPServer(
            address,
            routes: methods.map { HTTPRoute($0, "/api/v2/*rest", handler: rest.respond) } + pages.routes,
            limits: limits,
            // The REST interface asks for a key; the pages have stricter rules of their own.
            access: .open,
            options: { request in RESTInterface.options(request) },
            log: log
        )
    }

    /// Stops listening and closes every connection.
    public func stop() {
        server.stop()
    }
}
