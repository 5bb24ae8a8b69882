import Diagnostics
import Foundation
import Publisher
import SQLite
import Simulator
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

    @Test(
        "a damaged state file is set aside, and what can be read of it is put back",
        arguments: ["header", "first page", "value", "log", "text", "zeros"]
    )
    func damaged(kind: String) async throws {
        let folder = TemporaryDirectory()
        let path = folder.file("state.sqlite")
        var store: KeyValueStore? = try await .open(folder: folder.path, time: SystemTime(), log: .silent)
        await store?.set("switch", "a switch that is on")
        await store?.set("publisher", String(repeating: "much ", count: 2000))
        if kind == "log" {
            // As a crash leaves it.
            try FileManager.default.copyItem(atPath: path + "-wal", toPath: folder.file("kept"))
        }
        store = nil
        if kind == "log" {
            try FileManager.default.moveItem(atPath: folder.file("kept"), toPath: path + "-wal")
            try FileManager.default.removeItem(atPath: path)
            try Data().write(to: URL(fileURLWithPath: path))
        }
        let target = kind == "log" ? path + "-wal" : path
        var data = try Data(contentsOf: URL(fileURLWithPath: target))
        switch kind {
        case "header": data.replaceSubrange(0..<100, with: Data(count: 100))
        case "first page": data.replaceSubrange(0..<4096, with: Data(count: 4096))
        case "value":
            let place = try #require(data.range(of: Data("switch that".utf8)))
            data[place.lowerBound] ^= 1
        // In the last frame but one.
        case "log": data[data.count - 4096 - 2000] ^= 1
        case "text": data = Data(String(repeating: "no database ", count: 1000).utf8)
        default: data = Data(count: data.count)
        }
        try data.write(to: URL(fileURLWithPath: target))
        let talk = Talk()

        let again = try await KeyValueStore.open(folder: folder.path, time: SystemTime(), log: talk.log)

        #expect(await again.wasDamaged)
        let aside = await again.condition.damagedFiles
        #expect(aside.count == 1 && talk.text.contains(aside.first ?? "?"))
        let (control, publisher) = (await again.value("switch"), await again.value("publisher"))
        switch kind {
        case "header", "first page":
            #expect(control == "a switch that is on" && publisher?.count == 10_000)
        case "value": #expect(control == nil && publisher?.count == 10_000)
        case "log": #expect(control == "a switch that is on" || control == nil)
        default: #expect(control == nil && publisher == nil)
        }
        await again.set("new", "1")
        #expect(await again.condition.failure == nil)
        let third = try await KeyValueStore.open(folder: folder.path, time: SystemTime(), log: talk.log)
        #expect(await third.value("new") == "1")
        #expect(await third.wasDamaged == false)
    }

    @Test("a memory of the account's use that was lost means a minute without sending")
    func lostMemory() async throws {
        let io = try SimulatedIO()
        let context = try io.context("", account: "plan = 10000")
        let configuration = try context.configuration()
        let directory = try StateDirectory(configuration, environment: [:])
        try directory.make(configurationFile: configuration.file)
        try Data(String(repeating: "no database ", count: 1000).utf8)
            .write(to: URL(fileURLWithPath: directory.file("state.sqlite")))
        let talk = Talk()
        let service = try await BridgeService(
            configuration,
            key: Secret("key"),
            directory: directory,
            environment: [:],
            time: ManualTime(),
            log: talk.log
        )

        let status = await service.status()

        #expect(status.delivery.heldUntil != nil)
        #expect(talk.text.contains("nothing is sent for a minute"))
        #expect(status.damagedFiles.count == 1)
        await io.simulator.stop()
    }

    @Test(
        "on a full disk values are kept in memory, read past SQLite, and written when there is room",
        .enabled(if: SmallDisk.canMount, Comment(rawValue: SmallDisk.cannot))
    )
    func fullDisk() async throws {
        let disk = try #require(SmallDisk(bytes: 1 << 20))
        let path = disk.folder.path
        var store: KeyValueStore? = try await .open(folder: path, time: SystemTime(), log: .silent)
        await store?.set("switch", "on")
        store = nil
        try await until("it is closed") { !FileManager.default.fileExists(atPath: "\(path)/state.sqlite-wal") }
        disk.fill()
        let talk = Talk()

        let full = try await KeyValueStore.open(folder: path, time: SystemTime(), log: talk.log)
        #expect(await full.value("switch") == "on")
        await full.set("other", "1")
        await full.set("other", "2")
        #expect(await full.value("other") == "2")
        #expect(await full.condition.failure?.isFull == true)
        #expect(talk.text.split(separator: "\n").count == 1, "said once: \(talk.text)")

        disk.makeRoom()
        await full.retry()

        #expect(await full.condition.failure == nil)
        let again = try await KeyValueStore.open(folder: path, time: SystemTime(), log: talk.log)
        #expect(await again.value("switch") == "on")
        #expect(await again.value("other") == "2")
    }
}
