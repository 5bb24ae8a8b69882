import Diagnostics
import Glibc
import TestKit
import Testing

@testable import Bridge

@Suite("The state directory")
struct StateTests {
    private func directory(_ state: String? = nil, _ environment: [String: String]) throws -> StateDirectory {
        let line = state.map { "state = \"\($0)\"\n" } ?? ""
        let configuration = try Configuration(
            parsing: line + "[account]\nusername = \"ada\"\n",
            file: "feedbridge.toml"
        )
        return try StateDirectory(configuration, environment: environment)
    }

    private func failure(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("is the configuration's, else systemd's, else the user's; what is empty does not count")
    func places() throws {
        let all = [
            "STATE_DIRECTORY": "/var/lib/a:/var/lib/b", "XDG_STATE_HOME": "/x", "HOME": "/home/ada",
            "RUNTIME_DIRECTORY": "/run/a:/run/b", "XDG_RUNTIME_DIR": "/run/user/1",
        ]
        #expect(try directory("/s", all).path == "/s")
        #expect(try directory("/s", all).socketPlace == "/run/a/control.sock")
        #expect(try directory(nil, all).path == "/var/lib/a")
        #expect(try directory(nil, all).socket == "/var/lib/a/control.sock")
        #expect(try directory(nil, ["XDG_STATE_HOME": "/x", "HOME": "/h"]).path == "/x/feedbridge")
        let user = try directory(nil, ["HOME": "/h", "XDG_RUNTIME_DIR": "/run/user/1"])
        #expect(user.path == "/h/.local/state/feedbridge")
        #expect(user.socketPlace == "/run/user/1/feedbridge/control.sock")
        let empty = ["STATE_DIRECTORY", "XDG_STATE_HOME", "RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"].map { ($0, "") }
        let bare = try directory(nil, Dictionary(uniqueKeysWithValues: empty + [("HOME", "/h")]))
        #expect(bare.path == "/h/.local/state/feedbridge")
        #expect(bare.socketPlace == bare.socket)
    }

    @Test("without any place it says what to set")
    func nowhere() {
        let error = failure { _ = try directory(nil, [:]) }

        #expect(error?.contains("feedbridge.toml: there is no state directory: set state =") == true)
    }

    @Test("it is made for its owner alone, with the folders above it")
    func made() throws {
        let folder = TemporaryDirectory()
        let state = try directory(folder.file("a/b/state"), ["RUNTIME_DIRECTORY": folder.file("run/feedbridge")])

        try state.make(configurationFile: "feedbridge.toml")
        try state.make(configurationFile: "feedbridge.toml")

        for path in ["a/b/state", "run/feedbridge"] {
            var status = stat()
            #expect(stat(folder.file(path), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o700)
        }
    }

    @Test("one that cannot be made is one sentence with the place, the reason and the remedy")
    func cannotBeMade() throws {
        let folder = TemporaryDirectory()
        try folder.write("", to: "file")

        for path in [folder.file("file"), folder.file("file/state"), "/proc/feedbridge"] {
            let error = failure { try directory(path, [:]).make(configurationFile: "feedbridge.toml") }
            #expect(
                error?.hasPrefix("feedbridge.toml: cannot make the state directory \(path): ") == true,
                "\(error ?? "")"
            )
            #expect(error?.hasSuffix("Set state to a folder that you may write") == true)
            #expect(error?.contains("Success") == false)
        }
    }

    @Test("a path that no socket can have is refused, wherever the socket lies")
    func tooLong() throws {
        let folder = TemporaryDirectory()
        let long = folder.file(String(repeating: "x", count: 100))

        for environment in [[:], ["RUNTIME_DIRECTORY": folder.path]] {
            let error = failure { try directory(long, environment).make(configurationFile: "f") }
            #expect(error?.contains("too long for a socket") == true)
        }
    }

    @Test("the socket is found in the state directory wherever it lies")
    func link() throws {
        let folder = TemporaryDirectory()
        let state = try directory(folder.file("state"), ["RUNTIME_DIRECTORY": folder.file("run")])
        try state.make(configurationFile: "f")
        try folder.write("here", to: "run/control.sock")

        state.linkSocket()
        state.linkSocket()

        #expect(try folder.read("state/control.sock") == "here")
    }

    @Test("one bridge at a time: the second is told who has it, and the first one's end frees it")
    func locked() throws {
        let folder = TemporaryDirectory()
        let state = try directory(folder.path, [:])
        let first = try DirectoryLock(state, configurationFile: "f")

        let error = failure { _ = try DirectoryLock(state, configurationFile: "f") }
        #expect(error?.contains("another feedbridge (process \(getpid())) already runs on") == true, "\(error ?? "")")

        _ = consume first
        _ = try DirectoryLock(state, configurationFile: "f")
    }

    @Test("small state survives")
    func keyValues() async throws {
        let folder = TemporaryDirectory()
        let store = try await KeyValueStore.open(folder: folder.path, time: SystemTime(), log: .silent)
        #expect(await store.value("a") == nil)
        await store.set("a", "1")
        await store.set("a", "2'; DROP TABLE state")

        let again = try await KeyValueStore.open(folder: folder.path, time: SystemTime(), log: .silent)

        #expect(await again.value("a") == "2'; DROP TABLE state")
    }
}
