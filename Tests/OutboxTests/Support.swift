import DataPoints
import Diagnostics
import Foundation
import Glibc
import Outbox
import SQLite
import TestKit
import Testing

func feed(_ text: String) -> FeedKey {
    guard let key = FeedKey(text) else { preconditionFailure("\(text) is no feed key") }
    return key
}

let load = feed("load")
let door = feed("garden.door")

extension ManualTime {
    /// A point of now, or of `seconds` later.
    func point(_ feed: FeedKey, _ value: some CustomStringConvertible, after seconds: Double = 0) -> DataPoint {
        DataPoint(feed: feed, value: value.description, createdAt: wall() + .seconds(seconds))
    }
}

extension OutboxReader {
    /// All points, page by page.
    func all(_ state: PointState? = nil, of feed: FeedKey? = nil) throws -> [OutboxPoint] {
        var all: [OutboxPoint] = []
        while true {
            let page = try points(in: state, of: feed, after: all.last?.id ?? .min, limit: 500)
            if page.isEmpty { return all }
            all += page
        }
    }
}

/// Runs SQL with the `sqlite3` program and gives back what it wrote.
@discardableResult
func sqlite(_ path: String, _ sql: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
    process.arguments = [path, sql]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
}

/// Changes the bytes of a file in its place.
func change(_ path: String, _ body: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    body(&data)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: data)
    try handle.close()
}

/// A generator that gives the same numbers for the same seed.
struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
