internal import KernelFiles
internal import Samples

/// `host.memory` and `host.swap` from `/proc/meminfo`, in bytes.
final class MemorySource: HostSource {
    let streams: [Stream]
    private let file: KernelFile
    private let hasSwap: Bool

    private struct Figures {
        var total: UInt64?
        var free: UInt64?
        var available: UInt64?
        var buffers: UInt64 = 0
        var cached: UInt64 = 0
        var swapTotal: UInt64?
        var swapFree: UInt64?

        init(_ text: inout KernelText) {
            while !text.isAtEnd {
                if text.skip("MemTotal:") {
                    total = text.count()
                } else if text.skip("MemFree:") {
                    free = text.count()
                } else if text.skip("MemAvailable:") {
                    available = text.count()
                } else if text.skip("Buffers:") {
                    buffers = text.count() ?? 0
                } else if text.skip("Cached:") {
                    cached = text.count() ?? 0
                } else if text.skip("SwapTotal:") {
                    swapTotal = text.count()
                } else if text.skip("SwapFree:") {
                    swapFree = text.count()
                    return
                }
                text.skipLine()
            }
        }
    }

    /// Nil when there is no such file.
    init?(proc: String) {
        file = KernelFile("\(proc)/meminfo")
        guard KernelFile.exists(file.path) else { return nil }
        func stream(_ name: String, _ fields: [String]) -> Stream {
            Stream(
                Name(mapping: name),
                fields: fields.map { Field(Name(mapping: $0), unit: .bytes, kind: .integer) }
            )
        }
        var streams = [stream("host.memory", ["used", "available", "total"])]
        let hasSwap = file.readOnce { Figures(&$0).swapTotal != nil } ?? false
        if hasSwap { streams.append(stream("host.swap", ["used", "total"])) }
        self.hasSwap = hasSwap
        self.streams = streams
    }

    func read(seconds: Double?, buffer: ReadBuffer, into readings: inout [HostReading]) {
        do throws(KernelFailure) {
            var text = try file.read(into: buffer)
            let figures = Figures(&text)
            // Kernels before 3.14 do not estimate what is available.
            let available = figures.available ?? figures.free.map { $0 &+ figures.buffers &+ figures.cached }
            let memory = [difference(figures.total, available), bytes(available), bytes(figures.total)]
            readings.append(HostReading(stream: 0, values: memory, condition: .ok))
            guard hasSwap else { return }
            let swap = [difference(figures.swapTotal, figures.swapFree), bytes(figures.swapTotal)]
            readings.append(HostReading(stream: 1, values: swap, condition: .ok))
        } catch {
            for stream in streams.indices {
                readings.append(HostReading(stream: stream, values: nil, condition: error.condition(file.path)))
            }
        }
    }

    private func bytes(_ kibibytes: UInt64?) -> Value {
        guard let kibibytes, kibibytes < 1 << 52 else { return .missing }
        return .integer(Int64(kibibytes) * 1024)
    }

    private func difference(_ whole: UInt64?, _ part: UInt64?) -> Value {
        guard let whole, let part else { return .missing }
        return bytes(whole >= part ? whole - part : 0)
    }
}
