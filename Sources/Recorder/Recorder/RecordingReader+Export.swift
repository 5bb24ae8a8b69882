internal import Diagnostics
internal import SQLite
internal import Samples

extension RecordingReader {
    /// Writes a session into the folder `folder`, which is made if needed. Memory does not grow with the session.
    ///
    /// Each file appears under its name only when it is whole and on the disk.
    public func export(
        session id: Int64,
        as format: ExportFormat,
        into folder: String
    ) async throws -> ExportReport {
        let session = try session(id)
        let streams = try streams(inSession: id)
        if format == .gpx, !streams.contains(where: GPXTrack.isPlace) { throw RecorderError.noLocation(session: id) }
        try OutputFile.makeFolder(folder)

        var report = ExportReport()
        switch format {
        case .csv:
            for stream in streams {
                let file = try OutputFile(folder: folder, name: "\(stream.name).csv")
                let connection = try open()
                let cursor = try SampleCursor(stream, on: connection, session: id)
                report.samples[stream.name] = try RecordingReader.copy(cursor, to: file)
                try file.keep()
                report.files.append(file.path)
                await Task.yield()
            }
            if try !marks(ofSession: id).isEmpty {
                let file = try OutputFile(folder: folder, name: "_marks.csv")
                let connection = try open()
                _ = try RecordingReader.copy(try SampleCursor(marksOf: id, on: connection), to: file)
                try file.keep()
                report.files.append(file.path)
            }
        case .jsonl:
            let file = try OutputFile(folder: folder, name: "session-\(id).jsonl")
            report.samples = try merge(streams, session: id, to: file)
            try file.keep()
            report.files.append(file.path)
        case .gpx:
            let file = try OutputFile(folder: folder, name: "session-\(id).gpx")
            report.samples = try writeTracks(streams.filter(GPXTrack.isPlace), of: session, to: file)
            try file.keep()
            report.files.append(file.path)
        }
        OutputFile.syncFolder(folder)
        return report
    }

    private static func copy(_ cursor: SampleCursor, to output: some ByteOutput) throws -> Int {
        let writer = RowWriter(.csv, cursor)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ExportChunk.bytes + 4096)
        writer.writeHeader(to: &bytes)
        var count = 0
        while try cursor.next() {
            writer.writeRow(to: &bytes)
            count += 1
            if bytes.count >= ExportChunk.bytes { try ExportChunk.flush(&bytes, to: output) }
        }
        try output.write(bytes)
        return count
    }

    /// Writes all streams and the marks as JSON lines in the order of time; what has one time in the order of names.
    private func merge(
        _ streams: [RecordedStream],
        session id: Int64,
        to output: some ByteOutput
    ) throws -> [Name: Int] {
        let connection = try open()
        var cursors: [SampleCursor] = [try SampleCursor(marksOf: id, on: connection)]
        for stream in streams { cursors.append(try SampleCursor(stream, on: connection, session: id)) }
        let writers = cursors.map { RowWriter(.jsonl, $0) }
        var times: [Int64?] = []
        for cursor in cursors { times.append(try cursor.next() ? cursor.time : nil) }

        var counts = [Int](repeating: 0, count: cursors.count)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ExportChunk.bytes + 4096)
        while true {
            var earliest: (time: Int64, index: Int)?
            for (index, time) in times.enumerated() {
                if let time, time < earliest?.time ?? .max || earliest == nil { earliest = (time, index) }
            }
            guard let index = earliest?.index else { break }
            writers[index].writeRow(to: &bytes)
            counts[index] += 1
            times[index] = try cursors[index].next() ? cursors[index].time : nil
            if bytes.count >= ExportChunk.bytes { try ExportChunk.flush(&bytes, to: output) }
        }
        try output.write(bytes)
        return Dictionary(uniqueKeysWithValues: zip(streams.map(\.name), counts.dropFirst()))
    }

    private func writeTracks(
        _ streams: [RecordedStream],
        of session: Session,
        to output: some ByteOutput
    ) throws -> [Name: Int] {
        let connection = try open()
        var counts: [Name: Int] = [:]
        var bytes: [UInt8] = []
        GPXTrack.writeHead(of: session, to: &bytes)
        for stream in streams {
            let cursor = try SampleCursor(stream, on: connection, session: session.id)
            guard var track = GPXTrack(cursor) else { continue }
            track.begin(to: &bytes)
            while try cursor.next() {
                if track.writePoint(to: &bytes) { counts[stream.name, default: 0] += 1 }
                if bytes.count >= ExportChunk.bytes { try ExportChunk.flush(&bytes, to: output) }
            }
            track.end(to: &bytes)
        }
        GPXTrack.writeFoot(to: &bytes)
        try output.write(bytes)
        return counts
    }
}

/// The pieces in which exports are written.
private enum ExportChunk {
    static let bytes = 64 * 1024

    /// Writes the bytes and empties them, keeping their memory; throws when the export was cancelled.
    static func flush(_ bytes: inout [UInt8], to output: some ByteOutput) throws {
        try Task.checkCancellation()
        try output.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}

extension SampleCursor {
    /// All samples of a stream in a session, from its first to its last.
    convenience init(
        _ stream: RecordedStream,
        on connection: borrowing SQLiteConnection,
        session: Int64
    ) throws(SQLiteError) {
        try self.init(
            stream,
            on: connection,
            from: stream.first?.nanoseconds ?? .min,
            to: (stream.last?.nanoseconds ?? .max).reachingTies,
            session: session
        )
    }
}
