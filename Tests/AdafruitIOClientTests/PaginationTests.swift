import DataPoints
import Diagnostics
import HTTPServer
import Testing

@testable import AdafruitIOClient

@Suite("Lists over many pages", .timeLimit(.minutes(5)))
struct PaginationTests {
    private let base = "https://io.adafruit.com/api/v2/ada/feeds/load/data"

    @Test("pages follow the service's own form of Link, and go to our address only")
    func followsPages() async throws {
        let elsewhere = "https://evil.example/data"
        let service = try ScriptedService(
            .json("[\(Recorded.listed("C", "3")),\(Recorded.listed("B", "2"))]")
                .with("Link", "<\(base)?limit=2>;rel=\"next\", <\(elsewhere)?before=MjA%3D%3D&limit=2>")
                .with("X-Pagination-Total", "3"),
            .json("[\(Recorded.listed("A", "1"))]").with("Link", "<\(base)?before=MjA%3D%3D&limit=2>;rel=\"next\"")
        )
        let feed = try #require(FeedKey("load"))
        let start = Timestamp(nanoseconds: 1_589_316_000_000_000_000)
        var values: [String] = []
        var totals: [Int?] = []

        for try await page in try service.client().pages(of: feed, PointQuery(start: start, limit: 2)) {
            values += page.points.map(\.value)
            totals.append(page.total)
        }

        #expect(values == ["3", "2", "1"])
        #expect(totals == [3, nil])
        let query = "start_time=2020-05-12T20:40:00Z&limit=2"
        #expect(
            service.lines == [
                "GET /api/v2/ada/feeds/load/data?\(query)",
                "GET /api/v2/ada/feeds/load/data?\(query)&before=MjA==",
            ]
        )
    }

    @Test("a service that gives the same page again and again is not asked for ever")
    func endsLoops() async throws {
        let again = "[\(Recorded.listed("A", "1"))]"
        let link = "<\(base)>;rel=\"next\", <\(base)?before=x>"
        let other = "<\(base)>;rel=\"next\", <\(base)?before=y>"
        let service = try ScriptedService(
            .json(again).with("Link", link),
            .json(again).with("Link", other),
            .json(again).with("Link", link),
            .json(again).with("Link", other)
        )
        let feed = try #require(FeedKey("load"))
        var pages = 0

        for try await _ in try service.client().pages(of: feed) { pages += 1 }

        #expect(pages == 3)
    }

    @Test("a page that cannot be fetched ends the sequence with its error")
    func endsWithErrors() async throws {
        let service = try ScriptedService(.json(#"{"error":"not found"}"#, status: 404))
        let feed = try #require(FeedKey("load"))
        var iterator = try service.client().pages(of: feed).makeAsyncIterator()

        let error = await #expect(throws: AdafruitIOClientError.self) { try await iterator.next() }
        #expect(error?.refusal?.reason == .notFound)
        #expect(try await iterator.next() == nil)
    }

    @Test(
        "both forms of Link are read, and nonsense is no next page",
        arguments: [
            (#"<https://a/x?limit=1>;rel="next", <https://a/x?limit=1&before=T1>"#, "T1"),
            (#"<https://a/x?before=T1>; rel="next""#, "T1"),
            (#"<https://a/x?before=T0>; rel="prev", <https://a/x?before=T1>; rel="next""#, "T1"),
            (#"<https://a/x?before=T1>; rel="next", <https://a/x?before=T9>; rel="last""#, "T1"),
            (#"<https://a/x?before=NOW>;rel="next""#, nil), (#"<https://a/x>;rel="next""#, nil), ("", nil),
            (#"<https://a/x?before=%Z1>; rel="next""#, nil), (#"rel="next", <"#, nil), (#"<>;rel="next", <>"#, nil),
        ] as [(String, String?)]
    )
    func readsLinks(header: String, next: String?) {
        #expect(PaginationLink.next(in: header, current: "NOW") == next)
    }
}
