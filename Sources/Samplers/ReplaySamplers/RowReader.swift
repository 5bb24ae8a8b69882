internal import Diagnostics
internal import Samples

/// Samples of a file, with the file's times, some at a time.
struct ReplayChunk: Sendable {
    var times: [Timestamp] = []
    /// Row by row.
    var values: [Value] = []
    /// Broken rows.
    var rejects = 0
    /// Why the first of them is broken, with its line.
    var example = ""
    /// Whether the file has ended.
    var isLast = false
}

/// Reads a file's rows. A row whose time is far from both its neighbours' is broken: replaying it would take years.
struct RowReader {
    /// Farther than this from the row before is believed only when the next row is there too.
    static let farAway: Int64 = 7 * 86_400 * 1_000_000_000

    private struct Row {
        var time: Int64
        var values: [Value]
        var line: Int
    }

    private let lines: LineReader
    private var parser: RowParser
    private var previous: Int64?
    /// The first row, or one that is far from the one before it: it waits for what the next one says.
    private var held: Row?

    /// Opens the file again and checks that it has not been replaced by another since its columns were found.
    init(_ path: String, layout: Layout, fields: [Field]) throws(ReplayError) {
        lines = try FieldFinder.open(path)
        guard try FieldFinder.layout(lines, path: path) == layout else {
            throw ReplayError(
                kind: .header,
                description: "\(path): the header has changed since the start. Restart to replay the new file."
            )
        }
        parser = RowParser(layout, fields: fields)
    }

    /// The next rows, at most about `most`, from at most so many lines.
    mutating func next(_ most: Int) throws(ReplayError) -> ReplayChunk {
        var chunk = ReplayChunk()
        chunk.times.reserveCapacity(most)
        chunk.values.reserveCapacity(most * parser.values.count)
        // Broken rows count for the limit too, so that a file of nothing else does not hold the thread.
        while chunk.times.count + chunk.rejects < most {
            guard let line = try FieldFinder.next(lines) else {
                if let row = held { accept(row, into: &chunk) }
                held = nil
                chunk.isLast = true
                break
            }
            guard case .text(let bytes) = line else {
                reject(lines.number, "it is longer than \(LineReader.longestLine) bytes", in: &chunk)
                continue
            }
            guard FieldFinder.isRow(bytes) else { continue }
            do throws(RowParser.Broken) {
                take(try parser.parse(bytes), into: &chunk)
            } catch {
                reject(lines.number, error.reason, in: &chunk)
            }
        }
        return chunk
    }

    private mutating func take(_ time: Int64, into chunk: inout ReplayChunk) {
        if held == nil, let previous, isNear(time, previous) {
            chunk.times.append(Timestamp(nanoseconds: time))
            chunk.values.append(contentsOf: parser.values)
            self.previous = time
            return
        }
        let row = Row(time: time, values: parser.values, line: lines.number)
        guard let waiting = held else {
            held = row
            return
        }
        held = nil
        if isNear(time, waiting.time) {
            accept(waiting, into: &chunk)
            accept(row, into: &chunk)
        } else if let previous, isNear(time, previous) {
            reject(waiting.line, "its time is far from that of the rows before and after it", in: &chunk)
            accept(row, into: &chunk)
        } else {
            if previous == nil {
                reject(waiting.line, "its time is far from that of the row after it", in: &chunk)
            } else {
                accept(waiting, into: &chunk)
            }
            held = row
        }
    }

    private func isNear(_ time: Int64, _ other: Int64) -> Bool {
        (time - other).magnitude <= RowReader.farAway.magnitude
    }

    private mutating func accept(_ row: Row, into chunk: inout ReplayChunk) {
        chunk.times.append(Timestamp(nanoseconds: row.time))
        chunk.values.append(contentsOf: row.values)
        previous = row.time
    }

    private func reject(_ line: Int, _ reason: String, in chunk: inout ReplayChunk) {
        if chunk.rejects == 0 { chunk.example = "line \(line): \(reason)" }
        chunk.rejects += 1
    }
}
