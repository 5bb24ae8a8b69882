/// Finds the route of a path: a tree of segments, in which a literal wins over a `:name`, and that over a `*name`.
struct Router: Sendable {
    /// What is known about a path.
    enum Match: Sendable {
        case found(HTTPRoute, parameters: [String: String])
        case wrongMethod(allowed: [HTTPMethod])
        case nothing
    }

    private struct Node: Sendable {
        var literals: [String: Int] = [:]
        var parameter: Int?
        var rest: Int?
        var routes: [HTTPMethod: HTTPRoute] = [:]
    }

    private var nodes = [Node()]

    init(_ routes: [HTTPRoute]) {
        for route in routes { insert(route) }
    }

    private mutating func insert(_ route: HTTPRoute) {
        var place = 0
        for segment in Self.segments(of: route.pattern) {
            let next =
                switch segment.first {
                case ":": nodes[place].parameter
                case "*": nodes[place].rest
                default: nodes[place].literals[String(segment)]
                }
            if let next {
                place = next
                continue
            }
            nodes.append(Node())
            let new = nodes.count - 1
            switch segment.first {
            case ":": nodes[place].parameter = new
            case "*": nodes[place].rest = new
            default: nodes[place].literals[String(segment)] = new
            }
            place = new
        }
        precondition(nodes[place].routes[route.method] == nil, "two routes for \(route.method) \(route.pattern)")
        nodes[place].routes[route.method] = route
    }

    /// The route for decoded `segments`.
    func match(_ method: HTTPMethod, _ segments: [String]) -> Match {
        var allowed: Set<HTTPMethod> = []
        if let route = search(0, segments[...], method, &allowed) {
            return .found(route, parameters: parameters(of: route, segments))
        }
        guard !allowed.isEmpty else { return .nothing }
        if allowed.contains(.get) { allowed.insert(.head) }
        allowed.insert(.options)
        return .wrongMethod(allowed: allowed.sorted { $0.rawValue < $1.rawValue })
    }

    private func search(
        _ place: Int,
        _ segments: ArraySlice<String>,
        _ method: HTTPMethod,
        _ allowed: inout Set<HTTPMethod>
    ) -> HTTPRoute? {
        let node = nodes[place]
        guard let first = segments.first else { return route(of: node, method, &allowed) }
        if let next = node.literals[first], let route = search(next, segments.dropFirst(), method, &allowed) {
            return route
        }
        if let next = node.parameter, let route = search(next, segments.dropFirst(), method, &allowed) {
            return route
        }
        guard let rest = node.rest else { return nil }
        return route(of: nodes[rest], method, &allowed)
    }

    private func route(of node: Node, _ method: HTTPMethod, _ allowed: inout Set<HTTPMethod>) -> HTTPRoute? {
        allowed.formUnion(node.routes.keys)
        if let route = node.routes[method] { return route }
        return method == .head ? node.routes[.get] : nil
    }

    private func parameters(of route: HTTPRoute, _ segments: [String]) -> [String: String] {
        var parameters: [String: String] = [:]
        for (index, segment) in Self.segments(of: route.pattern).enumerated() {
            switch segment.first {
            case ":": parameters[String(segment.dropFirst())] = segments[index]
            case "*": parameters[String(segment.dropFirst())] = segments[index...].joined(separator: "/")
            default: break
            }
        }
        return parameters
    }

    /// The parts between the slashes; a slash at the end means nothing.
    static func segments(of path: some StringProtocol) -> [Substring] {
        var parts = Substring(path).split(separator: "/", omittingEmptySubsequences: false)
        if parts.first?.isEmpty == true { parts.removeFirst() }
        if parts.last?.isEmpty == true { parts.removeLast() }
        return parts
    }
}
