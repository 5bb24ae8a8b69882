import Diagnostics
import Recorder
import Samples
import TestKit
import Testing

@Suite("Imports into the recorder", .timeLimit(.minutes(5)))
struct ImportTests {
    let folder = TemporaryDirectory()
    let time = ManualTime()

    private func open() async throws -> RecorderStore {
        try await RecorderStore.open(folder: folder.path, settings: RecorderStore.Settings(), time: time)
    }

    @Test("an import is a session with the span of its samples, beside the one that is recorded")
    func imports() async throws {
        let store = try await open()
        let recorded = try await store.startSession(reason: .dashboard)
        let imported = try await store.beginImport()
        try await store.importSamples(accelerometer.batch([time.at(-5000), time.at(-4000)]), into: imported)
        store.receive(accelerometer.batch([time.at(1)]))
        try await store.importSamples(accelerometer.batch([time.at(4000)]), into: imported)
        try await store.endImport(imported)
        // Between the import's first and last sample, and still the session that is recorded.
        store.receive(accelerometer.batch([time.at(2)]))
        try await store.stopSession(reason: .command)

        let session = try await store.session(imported)
        #expect(session.start.nanoseconds == time.at(-5000) && session.end?.nanoseconds == time.at(4000))
        #expect(session.reason == .import && session.state == .ended && session.endReason == .import)
        #expect(session.samples == [accelerometer.name: 3])
        #expect(try await store.session(recorded).samples == [accelerometer.name: 1])
    }

    @Test("samples that come late do not go into an import that spans their time")
    func keepsOut() async throws {
        let store = try await open()
        let imported = try await store.beginImport()
        try await store.importSamples(accelerometer.batch([time.at(-5000), time.at(5000)]), into: imported)
        try await store.endImport(imported)
        store.receive(accelerometer.batch([time.at(0)]), keepOutside: true)
        try await store.close()

        let again = try await open()
        again.receive(accelerometer.batch([time.at(1)]), keepOutside: true)
        #expect(try await again.session(imported).samples == [accelerometer.name: 2])
    }

    @Test("an import without samples leaves no session, an unfinished one is interrupted, and both can be deleted")
    func ends() async throws {
        let store = try await open()
        let empty = try await store.beginImport()
        try await store.endImport(empty)
        await #expect(throws: RecorderError.self) { try await store.session(empty) }
        await #expect(throws: RecorderError.self) { try await store.endImport(empty) }

        let cut = try await store.beginImport()
        try await store.importSamples(accelerometer.batch([time.at(0)]), into: cut)
        await #expect(throws: RecorderError.self) { try await store.deleteSession(cut) }
        try await store.close()
        let again = try await open()
        #expect(try await again.session(cut).state == .interrupted)
        await #expect(throws: RecorderError.self) {
            try await again.importSamples(accelerometer.batch([time.at(0)]), into: cut)
        }
        try await again.deleteSession(cut)
        #expect(try await again.sessions().isEmpty)
    }
}
