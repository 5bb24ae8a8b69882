import Diagnostics
import Foundation
import HTTPServer
import TestKit
import Testing

@Suite("Unix sockets", .timeLimit(.minutes(5)))
struct UnixSocketTests {
    private let folder = TemporaryDirectory()

    private func serve(_ path: String, mode: UInt32 = 0o600) throws -> HTTPServer {
        let routes = [HTTPRoute(.get, "/status") { .text($0.remoteAddress ?? "local") }]
        return try HTTPServer(.unix(path: path, mode: mode), routes: routes, limits: .patient, log: .silent)
    }

    @Test("curl reaches it; its mode is what was asked for; it is gone after stop")
    func servesCurl() async throws {
        let path = folder.file("control.sock")
        let server = try serve(path)

        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try await run("curl", "-sS", "--unix-socket", path, "http://any-name/status") == "local")
        server.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a wider mode is kept against the umask")
    func keepsMode() throws {
        let path = folder.file("wide.sock")
        let server = try serve(path, mode: 0o666)

        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o666)
        server.stop()
    }

    @Test("a file left by a dead process is replaced")
    func replacesStaleFile() async throws {
        let path = folder.file("stale.sock")
        let script = "import socket; s = socket.socket(socket.AF_UNIX); s.bind('\(path)'); s.listen()"
        _ = try await run("python3", "-c", script)
        #expect(FileManager.default.fileExists(atPath: path))

        let server = try serve(path)

        let client = try await RawClient(path: path)
        await client.send("GET /status HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await client.readResponse().body == "local")
        server.stop()
    }

    @Test("a socket that somebody serves is left alone")
    func leavesLiveSocket() async throws {
        let path = folder.file("live.sock")
        let first = try serve(path)

        #expect(throws: HTTPServerError.addressInUse(path)) { try serve(path) }

        let client = try await RawClient(path: path)
        await client.send("GET /status HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try await client.readResponse().body == "local")
        first.stop()
    }

    @Test("a file that is no socket, a missing folder and a path that is too long are clear errors")
    func saysWhyItCannotListen() throws {
        let file = try folder.write("precious", to: "file")
        let long = folder.file(String(repeating: "x", count: 120))

        #expect(throws: HTTPServerError.pathIsTaken(file)) { try serve(file) }
        #expect(try folder.read("file") == "precious")
        #expect(throws: HTTPServerError.pathTooLong(long)) { try serve(long) }
        let missing = folder.file("none/control.sock")
        #expect(throws: HTTPServerError.system(address: missing, reason: "the folder does not exist")) {
            try serve(missing)
        }
    }
}
