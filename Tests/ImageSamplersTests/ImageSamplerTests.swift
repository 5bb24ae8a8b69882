import Diagnostics
import Foundation
import ImageMetadata
import Samples
import TestKit
import Testing

@testable import ImageSamplers

/// A JPEG file of nothing but an EXIF record, byte by byte as the EXIF standard has it.
struct Photo {
    var isBigEndian = false
    var numerator: UInt32 = 700
    var denominator: UInt32 = 100
    /// 10 is SRATIONAL.
    var format: UInt16 = 10
    var date: String?
    var offset: String?

    private func two(_ number: UInt16) -> [UInt8] {
        withUnsafeBytes(of: isBigEndian ? number.bigEndian : number.littleEndian) { Array($0) }
    }

    private func four(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: isBigEndian ? number.bigEndian : number.littleEndian) { Array($0) }
    }

    private func ascii(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    var bytes: [UInt8] {
        // Tag, format, bytes of the value; the tags rise.
        var fields: [(tag: UInt16, format: UInt16, count: UInt32, value: [UInt8])] = []
        if let date { fields.append((0x9003, 2, UInt32(date.utf8.count + 1), ascii(date))) }
        if let offset { fields.append((0x9011, 2, UInt32(offset.utf8.count + 1), ascii(offset))) }
        fields.append((0x9203, format, 1, four(numerator) + four(denominator)))
        let header: [UInt8] = (isBigEndian ? [0x4D, 0x4D] : [0x49, 0x49]) + two(42) + four(8)
        // IFD 0 has one entry: where the EXIF directory is.
        let first = two(1) + two(0x8769) + two(4) + four(1) + four(26) + four(0)
        var directory = two(UInt16(fields.count))
        var data: [UInt8] = []
        let dataStart = 26 + 2 + 12 * fields.count + 4
        for field in fields {
            directory += two(field.tag) + two(field.format) + four(field.count) + four(UInt32(dataStart + data.count))
            data += field.value + (field.value.count % 2 == 0 ? [] : [0])
        }
        directory += four(0)
        let record = Array("Exif".utf8) + [0, 0] + header + first + directory + data
        let length = record.count + 2
        return [0xFF, 0xD8, 0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + record + [0xFF, 0xD9]
    }

    func write(_ directory: TemporaryDirectory, _ name: String, changed: Double? = nil) throws {
        let path = directory.file(name)
        try Data(bytes).write(to: URL(filePath: path))
        if let changed {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: changed)],
                ofItemAtPath: path
            )
        }
    }
}

@Suite("Brightness of pictures", .timeLimit(.minutes(5))) struct ImageSamplerTests {
    private let directory = TemporaryDirectory()

    private func light(_ photo: Photo) throws -> ImageLight {
        try photo.write(directory, "a.jpg")
        return try ImageLight.read(directory.file("a.jpg"))
    }

    @Test("the BrightnessValue is read in both byte orders, with its sign")
    func bothOrders() throws {
        for isBigEndian in [false, true] {
            #expect(try light(Photo(isBigEndian: isBigEndian)).brightnessValue == 7)
            let dark = Photo(isBigEndian: isBigEndian, numerator: UInt32(bitPattern: -250))
            #expect(try light(dark).brightnessValue == -2.5)
        }
    }

    @Test("0 is one foot-lambert, and one more is twice the light")
    func luminance() throws {
        let zero = try #require(try light(Photo(numerator: 0)).luminance)
        let one = try #require(try light(Photo(numerator: 100)).luminance)

        #expect(abs(zero - 3.4262591) < 1e-6)
        #expect(abs(one / zero - 2) < 1e-12)
    }

    @Test("what stands for unknown is no brightness")
    func unknown() throws {
        #expect(try light(Photo(numerator: 0xFFFF_FFFF)).brightnessValue == nil)
        #expect(try light(Photo(denominator: 0)).brightnessValue == nil)
        #expect(try light(Photo(numerator: 4_000_000)).brightnessValue == nil)
        // Written as two texts, not as a fraction.
        #expect(try light(Photo(format: 2)).brightnessValue == nil)
    }

    @Test("the time is the record's own when it tells the offset, else none")
    func taken() throws {
        let known = try light(Photo(date: "2026:05:01 12:00:00", offset: "+02:00"))

        #expect(known.taken == Timestamp(iso8601: "2026-05-01T10:00:00Z"))
        #expect(try light(Photo(date: "2026:05:01 12:00:00")).taken == nil)
        #expect(try light(Photo(date: "    :  :     :  :  ", offset: "+02:00")).taken == nil)
    }

    @Test("a picture without a record, a folder and nothing at all are told apart")
    func failures() throws {
        try directory.write("no picture", to: "b.jpg")
        try directory.write("", to: "empty.jpg")

        for (name, kind) in [
            ("b.jpg", ImageMetadataError.Kind.noRecord), ("empty.jpg", .noRecord), ("c.jpg", .notFound),
        ] {
            let error = #expect(throws: ImageMetadataError.self) { try ImageLight.read(directory.file(name)) }
            #expect(error?.kind == kind)
            #expect(error?.description.contains(name) == true)
        }
        let folder = #expect(throws: ImageMetadataError.self) { try ImageLight.read(directory.path) }
        #expect(folder?.kind == .unreadable)
    }

    @Test("damaged records never trap")
    func fuzz() throws {
        let whole = Photo(date: "2026:05:01 12:00:00", offset: "+02:00").bytes
        for round in 0..<500 {
            var bytes = whole
            for _ in 0..<(1 + round % 8) { bytes[Int.random(in: 0..<bytes.count)] = UInt8.random(in: 0...255) }
            if round % 3 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count)) }
            try Data(bytes).write(to: URL(filePath: directory.file("f.jpg")))
            _ = try? ImageLight.read(directory.file("f.jpg"))
        }
    }

    @Test("of a folder the newest picture counts, once, at its own time")
    func newest() async throws {
        try Photo(numerator: 100).write(directory, "b.jpg", changed: 1_700_000_100)
        try Photo(numerator: 200).write(directory, "a.JPEG", changed: 1_700_000_200)
        try Photo(numerator: 900).write(directory, ".hidden.jpg", changed: 1_700_000_900)
        try directory.write("x", to: "notes.txt")
        let time = ManualTime()
        let sampler = ImageSampler(ImageConfiguration(path: directory.path, suffix: "door"), time: time)
        let sink = CollectingSink()
        let task = Task { try await sampler.run(into: sink) }

        await sink.until { $0.count == 1 }
        await time.untilSleeping()
        time.advance(by: .seconds(2))
        await time.untilSleeping()
        try Photo(numerator: 300, date: "2026:05:01 12:00:00", offset: "+00:00").write(
            directory,
            "c.jpg",
            changed: 1_700_000_300
        )
        time.advance(by: .seconds(2))
        await sink.until { $0.count == 2 }
        task.cancel()
        _ = await task.result

        let samples = sink.contents.samples(of: "image.door")
        #expect(samples.map { $0.values[0] } == [.real(2), .real(3)])
        #expect(samples[0].time == Timestamp(seconds: 1_700_000_200))
        #expect(samples[1].time == Timestamp(iso8601: "2026-05-01T12:00:00Z"))
        #expect(sink.contents.words(of: "image.door") == ["ok"])
        #expect(sampler.streams[0].fields.map(\.unit.rawValue) == ["", "cd/m^2"])
    }

    @Test("a picture that is still being written is read when it is whole, and one without brightness is counted")
    func halfWritten() async throws {
        let whole = Photo().bytes
        let file = directory.file("a.jpg")
        try Data(whole.prefix(3)).write(to: URL(filePath: file))
        let time = ManualTime()
        let sampler = ImageSampler(ImageConfiguration(path: file), time: time)
        let sink = CollectingSink()
        let task = Task { try await sampler.run(into: sink) }
        await time.untilSleeping()
        #expect(sink.contents.rejects.isEmpty)

        try Data(whole).write(to: URL(filePath: file))
        time.advance(by: .seconds(2))
        await sink.until { $0.count == 1 }
        await time.untilSleeping()
        try Photo(numerator: 0xFFFF_FFFF).write(directory, "a.jpg", changed: 1_700_000_000)
        time.advance(by: .seconds(2))
        await sink.until { !$0.rejects.isEmpty }
        task.cancel()
        _ = await task.result

        #expect(sink.contents.samples(of: "image").count == 1)
        #expect(sink.contents.rejects[0].example.contains("a.jpg"))
    }

    @Test("a path that is not there is missing and taken up when it comes")
    func missing() async throws {
        let time = ManualTime()
        let sampler = ImageSampler(ImageConfiguration(path: directory.file("later")), time: time)
        #expect(await sampler.readings().map(\.condition.word) == ["missing"])
        let sink = CollectingSink()
        let task = Task { try await sampler.run(into: sink) }
        await sink.until { $0.words(of: "image") == ["missing"] }
        await time.untilSleeping()

        try FileManager.default.createDirectory(atPath: directory.file("later"), withIntermediateDirectories: false)
        try Photo().write(directory, "later/x.jpg")
        time.advance(by: .seconds(2))
        await sink.until { $0.count == 1 }
        task.cancel()
        _ = await task.result

        #expect(sink.contents.words(of: "image") == ["missing", "ok"])
        #expect(await sampler.readings().map(\.values) == [[.real(7), .real(3.426_259 * 128)]])
    }
}
