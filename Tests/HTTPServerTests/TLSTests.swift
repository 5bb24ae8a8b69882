import Diagnostics
import HTTPServer
import TestKit
import Testing

@Suite("TLS", .timeLimit(.minutes(5)))
struct TLSTests {
    private let folder = TemporaryDirectory()

    private func makeCertificate() async throws -> (path: String, tls: HTTPServerTLS) {
        let (certificate, key) = (folder.file("certificate.pem"), folder.file("key.pem"))
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
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-keyout",
            key,
            "-out",
            certificate,
            "-batch"
        )
        let tls = HTTPServerTLS(
            certificate: try folder.read("certificate.pem"),
            key: Secret(try folder.read("key.pem"))
        )
        return (certificate, tls)
    }

    @Test("curl with the right authority gets an answer, also for large bodies both ways")
    func servesTLS() async throws {
        let (path, tls) = try await makeCertificate()
        let server = try HTTPServer(
            .tcp(host: "127.0.0.1", port: 0),
            routes: [HTTPRoute(.post, "/") { .bytes($0.body, type: "application/octet-stream") }],
            tls: tls,
            log: .silent
        )
        let text = String(repeating: "0123456789", count: 30_000)
        let body = try folder.write(text, to: "body")

        let answer = try await run(
            "curl",
            "-sS",
            "--cacert",
            path,
            "--data-binary",
            "@\(body)",
            "https://localhost:\(server.port)/"
        )

        #expect(answer == text)
        server.stop()
    }

    @Test("a certificate that is none is a clear error, without the key")
    func refusesNonsense() throws {
        #expect {
            try HTTPServer(
                .tcp(host: "127.0.0.1", port: 0),
                routes: [],
                tls: HTTPServerTLS(certificate: "nonsense", key: Secret("hush")),
                log: .silent
            )
        } throws: { error in
            let text = "\(error)"
            return text.hasPrefix("Cannot use the certificate or its key: ") && !text.contains("hush")
        }
    }
}
