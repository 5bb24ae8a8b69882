import Diagnostics
import Samples
import TestKit

@testable import HostSamplers

/// A reader of a fake machine that a test moves pass by pass.
struct Bench {
    let machine: FakeMachine
    let time = ManualTime()
    let sink = CollectingSink()
    let reader: HostReader

    init(_ machine: FakeMachine) {
        self.machine = machine
        reader = HostReader(proc: machine.proc, sys: machine.sys)
    }

    /// Reads once, two seconds after the last time, and gives the values of one stream, or nil when it gave no sample.
    func pass(_ stream: String) async -> [Double?]? {
        time.advance(by: .seconds(2))
        let before = sink.contents.samples(of: stream).count
        await reader.pass(into: sink, time: time)
        return sink.contents.samples(of: stream).dropFirst(before).first?.values.map(\.number)
    }

    func words(_ stream: String) -> [String] { sink.contents.words(of: stream) }

    var names: [String] { reader.streams.map(\.name.text) }

    func fields(_ stream: String) -> [String] {
        reader.streams.first { $0.name.text == stream }?.fields.map { "\($0.name) \($0.unit.rawValue)" } ?? []
    }
}
