import Testing

@testable import HTTPServer

@Suite("Routes")
struct RouterTests {
    private func router(_ patterns: String...) -> Router {
        Router(patterns.map { HTTPRoute(.get, $0) { _ in .empty(200) } })
    }

    private func found(_ router: Router, _ path: String) -> String {
        let segments = Router.segments(of: path).map(String.init)
        guard case .found(let route, let parameters) = router.match(.get, segments) else { return "nothing" }
        let list = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return ([route.pattern] + list).joined(separator: " ")
    }

    @Test("a literal wins over a parameter, a parameter over the rest, whatever the order")
    func prefersLiterals() {
        let router = router("/*all", "/feeds/:key/data/:id", "/feeds/:key/data/last", "/feeds/:key")

        #expect(found(router, "/feeds/a/data/last") == "/feeds/:key/data/last key=a")
        #expect(found(router, "/feeds/a/data/7") == "/feeds/:key/data/:id id=7 key=a")
        #expect(found(router, "/feeds/a") == "/feeds/:key key=a")
        #expect(found(router, "/feeds/a/b") == "/*all all=feeds/a/b")
        #expect(found(router, "/") == "nothing")
    }

    @Test("a literal that leads nowhere does not hide a parameter")
    func goesBack() {
        let router = router("/user/settings", "/:user/feeds")

        #expect(found(router, "/user/feeds") == "/:user/feeds user=user")
        #expect(found(router, "/user/other") == "nothing")
    }

    @Test("a slash at the end means nothing, an empty segment does not match")
    func treatsSlashes() {
        let router = router("/a/b", "/c/:x")

        #expect(found(router, "/a/b/") == "/a/b")
        #expect(found(router, "/a//b") == "nothing")
        #expect(found(router, "/c") == "nothing")
    }
}
