import Diagnostics
import Dispatch
import FastJSON

@testable import AdafruitIO
@testable import AdafruitIOClient
@testable import HTTPClient
@testable import HTTPServer
@testable import Simulator

extension FuzzTarget {
    /// A request to the REST interface: `METHOD PATH?QUERY`, the kind of body, then the body.
    static let restRequests = FuzzTarget(
        "rest-requests",
        texts: [
            "POST /api/v2/ada/feeds\napplication/json\n{\"feed\":{\"name\":\"Load\",\"history\":true}}",
            "POST /api/v2/ada/feeds/load/data\napplication/json\n{\"value\":1,\"created_at\":\"2026-01-01T00:00:00Z\",\"lat\":1,\"lon\":2}",
            "POST /api/v2/ada/feeds/load/data\napplication/x-www-form-urlencoded\nvalue=1&epoch=1e300",
            "POST /api/v2/ada/feeds/load/data/batch\napplication/json\n{\"data\":[{\"value\":1,\"created_epoch\":1},{\"value\":2}]}",
            "GET /api/v2/ada/feeds/load/data/chart?hours=24&resolution=10&field=max\n\n",
            "GET /api/v2/ada/feeds/load/data?limit=2&start_time=2026-01-01&before=x\n\n",
            "POST /api/v2/ada/groups\napplication/json\n{\"group\":{\"name\":\"G\"}}",
            "POST /api/v2/ada/groups/g/data\napplication/json\n{\"feeds\":[{\"key\":\"a\",\"value\":1}],\"location\":{\"lat\":1,\"lon\":2}}",
            "POST /api/v2/ada/dashboards\napplication/json\n{\"dashboard\":{\"name\":\"D\"}}",
            "POST /api/v2/ada/dashboards/d/blocks\napplication/json\n{\"block\":{\"visual_type\":\"toggle_button\",\"block_feeds\":[{\"feed_id\":\"load\"}]}}",
            "POST /api/v2/ada/dashboards/d/update_layouts\napplication/json\n{\"layouts\":{\"lg\":[{\"i\":\"1\",\"x\":0,\"y\":0,\"w\":2,\"h\":2}]}}",
            "POST /api/v2/ada/feeds\nmultipart/form-data; boundary=x\n--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nA\r\n--x--",
            "PUT /api/v2/ada/feeds/load\napplication/json\n{\"name\":\"Other\",\"key\":\"other\"}",
            "GET /api/v2/ada/integrations/time/struct.json?tz=Europe/Madrid\n\n", "DELETE /api/v2/ada/feeds/load\n\n",
        ]
    ) { text in
        let lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        guard lines.count == 3, words.count == 2, let target = RequestTarget(words[1]) else { return }
        let request = HTTPRequest(
            method: HTTPMethod(rawValue: words[0]),
            path: target.path,
            query: target.query,
            headers: ["X-AIO-Key": "key", "Content-Type": lines[1]],
            body: Array(lines[2].utf8)
        )
        FuzzedService.shared.answer(request)
    }

    /// What the client reads out of an answer of the service.
    static let restReplies = FuzzTarget(
        "rest-replies",
        texts: [
            #"{"id":"0F","value":"1","created_at":"2026-01-01T00:00:00Z","created_epoch":1e300,"lat":1,"lon":2,"ele":3}"#,
            #"{"error":["a: data rate limit reached, 9 seconds until throttle released"]}"#,
            #"{"data_rate_limit":30,"active_data_rate":3,"authentication_rate":1,"subscribe_authorization_rate":2}"#,
            #"{"id":1,"key":"g.a","name":"A","history":true,"visibility":"private","last_value":"1","feeds":[{"key":"x"}]}"#,
            #"<https://io.adafruit.com/api/v2/a/feeds/b/data?before=a%3D>;rel="next", <x?before=b>"#,
            #"{"id":1,"visual_type":"gauge","block_feeds":[{"feed":{"key":"x"}}],"layouts":{"lg":[{"i":"1","x":1}]}}"#,
        ]
    ) { text in
        _ = PaginationLink.next(in: text, current: nil)
        for status in [200, 401, 404, 422, 429, 503] {
            let response = HTTPClientResponse(
                status: status,
                headers: [("Retry-After", text), ("Date", text)],
                body: Array(text.utf8)
            )
            _ = AdafruitIORefusal(response, request: "GET /").description
        }
        guard let json = try? JSON.parse(text) else { return }
        _ = StoredPoint(json)
        _ = AdafruitIOFeed(json)
        _ = AdafruitIOFeedDetails(json)
        _ = AdafruitIOGroup(json)
        _ = AdafruitIODashboard(json)
        _ = AdafruitIOBlock(json)
        _ = AdafruitIOLayouts(json)
        _ = AdafruitIOUser(json)
        _ = AdafruitIOThrottle(json)
    }

    /// JSON of any origin: what was read is written, and reads as the same.
    static let json = FuzzTarget(
        "json",
        texts: [
            #"{"a":[1,-2.5e3,true,false,null,"é\u00e9\ud83d\ude00\n"],"b":{}}"#, "[[[[1]]]]", "1e999",
            "-0", "18446744073709551616", #""\ud800""#,
        ]
    ) { text in
        guard let json = try? JSON.parse(text) else { return }
        let written = json.serialized()
        guard let again = try? JSON.parse(written) else {
            preconditionFailure("written, and not read again: \(written)")
        }
        precondition(again.serialized() == written)
        _ = json.serializedForPeople()
        _ = json["a"]?.int
        _ = json.double
        _ = json.int64
    }
}

/// A service for some hundred requests: what they leave behind must not slow down the ones after them.
private final class FuzzedService: Sendable {
    static let shared = FuzzedService()

    private struct State {
        var service: SimulatedService?
        var uses = 0
    }

    private let state = Guarded(State())

    func answer(_ request: HTTPRequest) {
        let service = state.withLock { state in
            if state.service == nil || state.uses >= 300 {
                let account = SimulatedAccount(
                    name: "ada",
                    key: Secret("key"),
                    plan: .custom(pointsPerMinute: 1_000_000)
                )
                state.service = try? SimulatedService(accounts: [account])
                state.uses = 0
            }
            state.uses += 1
            return state.service
        }
        guard let service else { preconditionFailure("no service") }
        let done = DispatchSemaphore(value: 0)
        Task {
            _ = try? await RESTInterface(service: service, log: .silent).respond(to: request)
            done.signal()
        }
        done.wait()
    }
}
