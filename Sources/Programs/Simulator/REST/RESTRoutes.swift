internal import HTTPServer

/// The addresses of the REST interface below `/api/v2/:user`.
struct RESTRoutes: Sendable {
    typealias Handler = @Sendable (RESTHandlers) -> () throws(RESTError) -> HTTPResponse

    struct Route: Sendable {
        let methods: [HTTPMethod]
        let pattern: [Substring]
        let handler: Handler
    }

    enum Match {
        case route(Route, parameters: [String: String])
        case otherMethods([HTTPMethod])
        case none
    }

    static let all = RESTRoutes()

    private let routes: [Route]

    /// The route for an address; one that spells a segment out comes before one that takes any.
    func match(_ method: HTTPMethod, _ segments: [String]) -> Match {
        var others: [HTTPMethod] = []
        for route in routes where route.pattern.count == segments.count {
            guard let parameters = route.parameters(segments) else { continue }
            if route.methods.contains(method == .head ? .get : method) { return .route(route, parameters: parameters) }
            others += route.methods
        }
        return others.isEmpty ? .none : .otherMethods(others)
    }

    private init() {
        typealias REST = RESTHandlers
        let change: [HTTPMethod] = [.put, .patch]
        var table: [Route] = []
        func on(_ methods: [HTTPMethod], _ pattern: String, _ handler: @escaping Handler) {
            table.append(Route(methods: methods, pattern: pattern.split(separator: "/"), handler: handler))
        }

        on([.get], "throttle", { $0.showThrottle })
        on([.get], "activities", { $0.listActivities })
        on([.delete], "activities", { $0.clearActivities })
        on([.get], "activities/:type", { $0.listActivities })

        on([.get], "feeds", { $0.listFeeds })
        on([.post], "feeds", { $0.createFeed })
        on([.get], "feeds/:key", { $0.showFeed })
        on(change, "feeds/:key", { $0.updateFeed })
        on([.delete], "feeds/:key", { $0.deleteFeed })
        on([.get], "feeds/:key/details", { $0.showFeedDetails })
        for prefix in ["feeds/:key/data", "groups/:group/feeds/:key/data"] {
            on([.get], prefix, { $0.listData })
            on([.post], prefix, { $0.createData })
            on([.post], prefix + "/batch", { $0.createBatch })
            on([.get], prefix + "/chart", { $0.chartData })
            on([.get], prefix + "/next", { $0.nextDatum })
            on([.get], prefix + "/previous", { $0.previousDatum })
            on([.get], prefix + "/prev", { $0.previousDatum })
            on([.get], prefix + "/last", { $0.lastDatum })
            on([.get], prefix + "/first", { $0.firstDatum })
            on([.get], prefix + "/retain", { $0.retainedDatum })
            on([.get], prefix + "/:id", { $0.showDatum })
            on(change, prefix + "/:id", { $0.updateDatum })
            on([.delete], prefix + "/:id", { $0.deleteDatum })
        }

        on([.get], "groups", { $0.listGroups })
        on([.post], "groups", { $0.createGroup })
        on([.get], "groups/:group", { $0.showGroup })
        on(change, "groups/:group", { $0.updateGroup })
        on([.delete], "groups/:group", { $0.deleteGroup })
        on([.post], "groups/:group/add", { $0.addToGroup })
        on([.post], "groups/:group/remove", { $0.removeFromGroup })
        on([.get], "groups/:group/feeds", { $0.listFeeds })
        on([.post], "groups/:group/feeds", { $0.createFeed })
        on([.get], "groups/:group/feeds/:key", { $0.showFeed })
        on([.post], "groups/:group/data", { $0.createGroupData })

        on([.get], "dashboards", { $0.listDashboards })
        on([.post], "dashboards", { $0.createDashboard })
        on([.get], "dashboards/:dashboard", { $0.showDashboard })
        on(change, "dashboards/:dashboard", { $0.updateDashboard })
        on([.delete], "dashboards/:dashboard", { $0.deleteDashboard })
        on([.post], "dashboards/:dashboard/update_layouts", { $0.updateLayouts })
        on([.get], "dashboards/:dashboard/blocks", { $0.listBlocks })
        on([.post], "dashboards/:dashboard/blocks", { $0.createBlock })
        on([.get], "dashboards/:dashboard/blocks/:id", { $0.showBlock })
        on(change, "dashboards/:dashboard/blocks/:id", { $0.updateBlock })
        on([.delete], "dashboards/:dashboard/blocks/:id", { $0.deleteBlock })

        on([.get], "tokens", { $0.listTokens })
        on([.post], "tokens", { $0.createToken })
        on([.get], "tokens/:id", { $0.showToken })
        on(change, "tokens/:id", { $0.updateToken })
        on([.delete], "tokens/:id", { $0.deleteToken })
        for name in ["actions", "triggers"] {
            on([.get], name, { $0.listActions })
            on([.post], name, { $0.createAction })
            on([.get], name + "/:id", { $0.showAction })
            on(change, name + "/:id", { $0.updateAction })
            on([.delete], name + "/:id", { $0.deleteAction })
        }
        on([.get], ":kind/:owner/acl", { $0.listPermissions })
        on([.post], ":kind/:owner/acl", { $0.createPermission })
        on([.get], ":kind/:owner/acl/:id", { $0.showPermission })
        on(change, ":kind/:owner/acl/:id", { $0.updatePermission })
        on([.delete], ":kind/:owner/acl/:id", { $0.deletePermission })

        on([.get], "integrations/time/struct", { $0.timeStruct })
        on([.get], "integrations/time/:form", { $0.timeText })
        for kind in ["weather", "air_quality", "words"] {
            on([.get, .post], "integrations/" + kind, { $0.noIntegrations })
            on([.get, .delete], "integrations/\(kind)/:id", { $0.noIntegrations })
            on([.get], "integrations/\(kind)/:id/:type", { $0.noIntegrations })
        }
        // Stable: among equals the order above counts.
        routes = table.sorted { $0.wildcards < $1.wildcards }
    }
}

extension RESTRoutes.Route {
    fileprivate var wildcards: Int { pattern.count { $0.first == ":" } }

    fileprivate func parameters(_ segments: [String]) -> [String: String]? {
        var parameters: [String: String] = [:]
        for (part, segment) in zip(pattern, segments) {
            if part.first == ":" {
                guard !segment.isEmpty else { return nil }
                parameters[String(part.dropFirst())] = segment
            } else if part != segment {
                return nil
            }
        }
        return parameters
    }
}
