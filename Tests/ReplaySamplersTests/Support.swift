import Diagnostics
import Foundation
import Samples
import TestKit
import Testing

@testable import ReplaySamplers

func name(_ text: String) -> Name { Name(mapping: text) }

/// Bytes that live as long as the body runs.
func withBytes<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    var text = text
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
}

/// Replays `text` as fast as possible with its own times and gives all that came.
func replay(_ text: String, as stream: String = "accelerometer") async throws -> CollectingSink.Contents {
    let directory = TemporaryDirectory()
    let file = try directory.write(text, to: "a.csv")
    let sampler = try ReplaySampler(
        ReplayConfiguration(stream: name(stream), file: file, speed: .asFastAsPossible, keepTime: true),
        time: ManualTime()
    )
    let sink = CollectingSink()
    try await sampler.run(into: sink)
    return sink.contents
}

/// The error that a file with that text is refused with.
func refusal(_ text: String) throws -> ReplayError? {
    let directory = TemporaryDirectory()
    let file = try directory.write(text, to: "bad.csv")
    return #expect(throws: ReplayError.self) {
        try ReplaySampler(ReplayConfiguration(stream: name("s"), file: file), time: ManualTime())
    }
}
