internal import Compression
internal import Diagnostics
internal import GPSDSamplers
internal import ReplaySamplers
internal import Samples

/// A recording of positions as a recording of any kind: GPX, NMEA, gpsd and OwnTracks.
struct TrackFile: RecordedSource {
    private let file: DecompressingFile
    private let path: String
    private let decoder: any TrackDecoder
    /// What was read to find out the format, until it is decoded.
    private var beginning: [UInt8]?
    private var memory = [UInt8](repeating: 0, count: 65_536)
    private var isAtEnd = false

    /// Opens the file when it is in the asked format, or, where none is asked, when its content shows one of these.
    static func open(_ path: String, format: String?) throws(ReplayError) -> TrackFile? {
        if let format {
            guard let known = TrackFormat(rawValue: format) else { return nil }
            return try TrackFile(path, known)
        }
        do throws(CompressionError) {
            let file = try DecompressingFile(path)
            let beginning = try read(file, 8_192)
            guard let found = TrackFormat(beginning: beginning) else { return nil }
            return TrackFile(path, file, found, beginning)
        } catch {
            throw ReplayError(kind: .file, description: error.description)
        }
    }

    private init(_ path: String, _ format: TrackFormat) throws(ReplayError) {
        do throws(CompressionError) {
            self.init(path, try DecompressingFile(path), format, [])
        } catch {
            throw ReplayError(kind: .file, description: error.description)
        }
    }

    private init(_ path: String, _ file: DecompressingFile, _ format: TrackFormat, _ beginning: [UInt8]) {
        self.path = path
        self.file = file
        self.beginning = beginning
        decoder = format.makeDecoder()
    }

    /// Up to `most` bytes of the file.
    private static func read(_ file: DecompressingFile, _ most: Int) throws(CompressionError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        var count = 0
        while count < most {
            let found = try read(file, into: &bytes, from: count)
            if found == 0 { break }
            count += found
        }
        bytes.removeLast(most - count)
        return bytes
    }

    private static func read(
        _ file: DecompressingFile,
        into bytes: inout [UInt8],
        from start: Int
    ) throws(CompressionError) -> Int {
        var result = Result<Int, CompressionError>.success(0)
        bytes.withUnsafeMutableBytes { memory in
            let rest = UnsafeMutableRawBufferPointer(rebasing: memory[start...])
            do throws(CompressionError) { result = .success(try file.read(into: rest)) } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    var streams: [Samples.Stream] { decoder.streams }
    var rejects: Int { decoder.rejected }
    var example: String { decoder.rejectedExample ?? "" }

    mutating func next() throws(ReplayError) -> [SampleBatch]? {
        guard !isAtEnd else { return nil }
        if let beginning {
            self.beginning = nil
            return TrackFile.batches(decoder.decode(beginning, isLast: false))
        }
        let count: Int
        do throws(CompressionError) {
            count = try TrackFile.read(file, into: &memory, from: 0)
        } catch {
            throw ReplayError(kind: .file, description: error.description)
        }
        isAtEnd = count == 0
        return TrackFile.batches(decoder.decode(Array(memory[..<count]), isLast: isAtEnd))
    }

    /// Samples of one stream that follow each other make a batch.
    private static func batches(_ samples: [TrackSample]) -> [SampleBatch] {
        var batches: [SampleBatch] = []
        for sample in samples {
            if batches.last?.stream.name != sample.stream.name {
                batches.append(SampleBatch(sample.stream, arrival: BootInstant(nanoseconds: 0)))
            }
            batches[batches.count - 1].append(time: sample.time, sample.values)
        }
        return batches
    }
}
