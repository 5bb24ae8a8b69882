internal import Control
internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import HTTPServer
internal import Outbox
internal import Publisher
internal import Recorder
internal import Samples

/// What the running bridge answers on its Unix socket, so that `curl --unix-socket` can do all that `feedbridge` can.
struct LocalRoutes: Sendable {
    let service: BridgeService

    var routes: [HTTPRoute] {
        [
            HTTPRoute(.get, "/status") { [service] _ in
                .json(await service.status().json.serialized())
            },
            HTTPRoute(.post, "/record") { [self] request in
                await record(request)
            },
            HTTPRoute(.get, "/sessions") { [service] _ in
                let sessions = try await service.recorder.sessions()
                return .json(JSON.array(sessions.map(\.json)).serialized())
            },
            HTTPRoute(.get, "/outbox") { [service] request in
                let listing = OutboxListing(reader: service.outboxReader, state: request.first(named: "state"))
                var points: [JSON] = []
                // A page for a person; `feedbridge outbox export` has all of them.
                try await listing.each { if points.count < 1000 { points.append($0) } }
                return .json(JSON.array(points).serialized())
            },
            HTTPRoute(.post, "/outbox") { [self] request in
                await changeOutbox(request)
            },
            importRoute,
            HTTPRoute(.delete, "/sessions/:id") { [service] request in
                guard let id = request.parameters["id"].flatMap(Int64.init) else {
                    return Self.failure(400, "the ID of a session is a number")
                }
                do {
                    try await service.recorder.deleteSession(id)
                    return .empty(204)
                } catch {
                    return Self.failure(409, "\(error)")
                }
            },
        ]
    }

    /// What is answered over TCP: numbers for Prometheus, and a word for watchdogs.
    var metrics: [HTTPRoute] {
        [
            HTTPRoute(.get, "/metrics") { [service] _ in
                let text = MetricsText.text(await service.status())
                return .bytes(Array(text.utf8), type: "text/plain; version=0.0.4; charset=utf-8")
            },
            HTTPRoute(.get, "/healthz") { [service] _ in
                let status = await service.status()
                return .text(status.isUp ? "ok\n" : "\(status.reason.rawValue): \(status.message)\n")
            },
        ]
    }

    private func record(_ request: HTTPRequest) async -> HTTPResponse {
        guard let body = try? JSON.parse(request.body), let action = body["action"]?.string else {
            return Self.failure(400, "the body must be {\"action\":\"start|stop|toggle|mark\"}")
        }
        if action == "mark" {
            guard let text = body["text"]?.string, !text.isEmpty else {
                return Self.failure(400, "a mark needs a text")
            }
            do {
                let session = try await service.recorder.mark(text)
                return .json(JSON.object(["session": JSON(Int(session)), "recording": true]).serialized())
            } catch {
                return Self.failure(409, "\(error)")
            }
        }
        guard let command = SwitchCommand(rawValue: action) else {
            return Self.failure(400, "action must be start, stop, toggle or mark, not \"\(action)\"")
        }
        switch await service.control.command(command) {
        case .recording(let session):
            return .json(JSON.object(["recording": true, "session": JSON(Int(session))]).serialized())
        case .stopped:
            return .json(JSON.object(["recording": false, "session": nil]).serialized())
        case .failed(let why):
            return Self.failure(409, why)
        }
    }

    private func changeOutbox(_ request: HTTPRequest) async -> HTTPResponse {
        guard let body = try? JSON.parse(request.body), let action = body["action"]?.string else {
            return Self.failure(400, "the body must be {\"action\":\"retry|drop|add\"}")
        }
        do {
            switch action {
            case "retry":
                let id = body["id"]?.int64
                guard id != nil || body["id"]?.string == "all" else {
                    return Self.failure(400, "id must be the number of a refused point, or \"all\"")
                }
                return Self.points(try await service.delivery.retry(id.map { [$0] }))
            case "add":
                guard let points = OutboxDoor.points(body) else {
                    return Self.failure(400, "points must be [{\"feed\",\"value\",\"created_at\"}]")
                }
                try await service.add(points)
                return Self.points(points.count)
            case "drop":
                guard let feed = body["feed"]?.string.flatMap(FeedKey.init) else {
                    return Self.failure(400, "feed must be the key of a feed")
                }
                return Self.points(try await service.delivery.drop(feed))
            default:
                return Self.failure(400, "action must be retry, drop or add, not \"\(action)\"")
            }
        } catch {
            return Self.failure(409, "\(error)")
        }
    }

    private static func points(_ count: Int) -> HTTPResponse {
        .json(JSON.object(["points": JSON(count)]).serialized())
    }

    static func failure(_ status: Int, _ text: String) -> HTTPResponse {
        .json(JSON.object(["error": .string(text)]).serialized(), status: status)
    }
}
