import Diagnostics
import Foundation
import HTTPClient
import HTTPServer
import TestKit
import Testing

@Suite("TLS", .timeLimit(.minutes(5)))
struct TLSTests {
    private let folder = TemporaryDirectory()

    /// Makes a certificate that signs itself, and its key, and gives their paths.
    private func makeCertificate(_ name: String, host: String = "localhost") async throws -> (String, String) {
        let (certificate, key) = (folder.file("\(name).pem"), folder.file("\(name).key"))
        _ = try await run(
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=\(host)",
            "-addext",
            "subjectAltName=DNS:\(host)",
            "-keyout",
            key,
            "-out",
            certificate,
            "-batch"
        )
        return (certificate, key)
    }

    /// Makes a certificate that was good for January 2020; `openssl req` of version 3.0 makes none of the past.
    private func makeOldCertificate() async throws -> (String, String) {
        let (certificate, key) = (folder.file("old.pem"), folder.file("old.key"))
        let settings = try folder.write(
            """
            [ca]
            default_ca = own
            [own]
            database = \(folder.file("index"))
            rand_serial = yes
            new_certs_dir = \(folder.path)
            default_md = sha256
            policy = any
            x509_extensions = names
            [any]
            commonName = supplied
            [names]
            subjectAltName = DNS:localhost
            """,
            to: "ca.cnf"
        )
        try folder.write("", to: "index")
        _ = try await run(
            "openssl",
            "req",
            "-new",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-subj",
            "/CN=localhost",
            "-keyout",
            key,
            "-out",
            folder.file("old.csr"),
            "-batch"
        )
        _ = try await run(
            "openssl",
            "ca",
            "-config",
            settings,
            "-selfsign",
            "-keyfile",
            key,
            "-in",
            folder.file("old.csr"),
            "-out",
            certificate,
            "-startdate",
            "20200101000000Z",
            "-enddate",
            "20200201000000Z",
            "-batch",
            "-notext"
        )
        return (certificate, key)
    }

    private func serve(_ certificate: String, _ key: String) throws -> HTTPServer {
        try HTTPServer(
            .tcp(host: "127.0.0.1", port: 0),
            routes: [HTTPRoute(.get, "/") { _ in .text("hello") }],
            tls: HTTPServerTLS(
                certificate: String(contentsOfFile: certificate, encoding: .utf8),
                key: Secret(String(contentsOfFile: key, encoding: .utf8))
            ),
            log: .silent
        )
    }

    private func client(_ authorities: String?) -> HTTPClient {
        var configuration = HTTPClientConfiguration.patient
        configuration.caFile = authorities
        return HTTPClient(configuration)
    }

    @Test("a certificate of the authority in the file is accepted, of another is not, nor by the machine's")
    func checksAuthority() async throws {
        let (right, key) = try await makeCertificate("right")
        let (other, _) = try await makeCertificate("other")
        let server = try serve(right, key)
        let request = HTTPClientRequest("GET", "https://localhost:\(server.port)/")

        #expect(try await client(right).send(request).text == "hello")
        for authorities in [other, nil] {
            let error = await #expect(throws: HTTPClientError.self) { try await client(authorities).send(request) }
            #expect(error?.reason == .certificate)
            #expect(error?.isRetriable == false)
            #expect(error?.mayHaveArrived == false)
        }
        server.stop()
    }

    @Test("a certificate for another host, one whose time is over and a missing file of authorities are `certificate`")
    func checksNameAndTime() async throws {
        let (foreign, foreignKey) = try await makeCertificate("foreign", host: "example.org")
        let (old, oldKey) = try await makeOldCertificate()
        for (certificate, key) in [(foreign, foreignKey), (old, oldKey)] {
            let server = try serve(certificate, key)
            let request = HTTPClientRequest("GET", "https://localhost:\(server.port)/")
            let error = await #expect(throws: HTTPClientError.self) { try await client(certificate).send(request) }
            #expect(error?.reason == .certificate)
            server.stop()
        }
        let missing = client(folder.file("none.pem"))
        let error = await #expect(throws: HTTPClientError.self) {
            try await missing.send(HTTPClientRequest("GET", "https://localhost:1/"))
        }
        #expect(error?.reason == .certificate || error?.reason == .connect)
    }

    @Test("a server that does not speak TLS is `tls`")
    func reportsPlainServers() async throws {
        let server = RawServer { peer in
            peer.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            peer.waitForEnd()
        }
        let error = await #expect(throws: HTTPClientError.self) {
            try await client(nil).send(HTTPClientRequest("GET", "https://localhost:\(server.port)/"))
        }
        #expect(error?.reason == .tls)
    }

    @Test("HTTP/2 is spoken where it is offered, with bodies both ways, over one connection")
    func speaksHTTP2() async throws {
        let (certificate, key) = try await makeCertificate("right")
        try folder.write("hello over two", to: "root/page")
        let server = try await ForeignServer(folder.file("root"), certificate: certificate, key: key)
        let client = client(certificate)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let method = number.isMultiple(of: 2) ? "GET" : "POST"
                    let body = method == "POST" ? [UInt8](repeating: 1, count: 100_000) : nil
                    let url = "https://localhost:\(server.port)/page"
                    let response = try await client.send(HTTPClientRequest(method, url, body: body))
                    #expect(response.version == "2")
                    #expect(response.status == 200)
                    #expect(response.text == "hello over two")
                }
            }
            try await group.waitForAll()
        }
        server.stop()
    }
}
