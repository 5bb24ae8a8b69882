public import Diagnostics
internal import SQLite
public import Samples

/// Some samples of a stream in the order of time.
public struct SamplePage: Sendable {
    /// The names, units and kinds of the values.
    public let columns: [RecordedColumn]
    /// The time of each sample.
    public internal(set) var times: [Timestamp] = []
    /// The values row by row, one for each column.
    public internal(set) var values: [Value] = []
    /// Where the next page begins; nil when this is the last.
    public internal(set) var next: Position?

    /// A place between two samples.
    public struct Position: Sendable, Hashable {
        let key: Int64
    }
}

extension RecordingReader {
    /// A page of the samples of a stream from `from` to `to`, both included, sessions and always store together.
    ///
    /// Begin with no position and go on with the page's `next`. Memory is that of one page.
    public func page(
        of stream: Name,
        from: Timestamp,
        to: Timestamp,
        at position: SamplePage.Position? = nil,
        limit: Int = 4096
    ) throws(RecorderError) -> SamplePage {
        let connection = try open()
        let recorded = try recordedStream(stream, on: connection)
        return try translated { () throws(SQLiteError) in
            let cursor = try SampleCursor(
                recorded,
                on: connection,
                from: position?.key ?? from.nanoseconds,
                to: to.nanoseconds.reachingTies,
                session: nil,
                limit: limit + 1
            )
            var page = SamplePage(columns: recorded.columns)
            while try cursor.next() {
                guard page.times.count < limit else {
                    page.next = SamplePage.Position(key: cursor.key)
                    break
                }
                let time = cursor.time
                guard time >= from.nanoseconds, time <= to.nanoseconds else { continue }
                page.times.append(Timestamp(nanoseconds: time))
                for column in recorded.columns.indices { page.values.append(cursor.value(at: column)) }
            }
            return page
        }
    }

    /// Writes the samples of a stream from `from` to `to`, both included, to a descriptor, and returns their number.
    ///
    /// Between two pages the database is closed: a slow reader of the descriptor does not hold up the recorder.
    @discardableResult
    public func write(
        _ stream: Name,
        from: Timestamp,
        to: Timestamp,
        as format: RowFormat,
        to descriptor: Int32
    ) async throws(RecorderError) -> Int {
        let output = DescriptorOutput(descriptor: descriptor, name: "the output")
        var key: Int64? = from.nanoseconds
        var count = 0
        var isFirst = true
        while let start = key, !Task.isCancelled {
            var bytes: [UInt8] = []
            key = try append(
                stream,
                from: max(start, from.nanoseconds),
                within: from...max(from, to),
                as: format,
                header: isFirst,
                to: &bytes,
                count: &count
            )
            isFirst = false
            try output.write(bytes)
            await Task.yield()
        }
        return count
    }

    private func append(
        _ stream: Name,
        from start: Int64,
        within times: ClosedRange<Timestamp>,
        as format: RowFormat,
        header: Bool,
        to bytes: inout [UInt8],
        count: inout Int
    ) throws(RecorderError) -> Int64? {
        let connection = try open()
        let recorded = try recordedStream(stream, on: connection)
        do throws(SQLiteError) {
            let cursor = try SampleCursor(
                recorded,
                on: connection,
                from: start,
                to: times.upperBound.nanoseconds.reachingTies,
                session: nil,
                limit: 8192
            )
            let writer = RowWriter(format, cursor)
            if header { writer.writeHeader(to: &bytes) }
            var last: Int64?
            while try cursor.next() {
                last = cursor.key
                guard times.contains(Timestamp(nanoseconds: cursor.time)) else { continue }
                writer.writeRow(to: &bytes)
                count += 1
            }
            return last.flatMap { $0 == .max ? nil : $0 + 1 }
        } catch {
            throw .database(error)
        }
    }

    func recordedStream(
        _ name: Name,
        on connection: borrowing SQLiteConnection
    ) throws(RecorderError) -> RecordedStream {
        let streams: [RecordedStream]
        do throws(SQLiteError) {
            streams = try connection.streams()
        } catch {
            throw .database(error)
        }
        guard let found = streams.first(where: { $0.name == name }) else { throw .noSuchStream(name) }
        return found
    }
}

extension Int64 {
    /// This time, and a second for the samples that lie some nanoseconds later because they have one time with others.
    var reachingTies: Int64 { self > .max - 1_000_000_000 ? .max : self + 1_000_000_000 }
}
