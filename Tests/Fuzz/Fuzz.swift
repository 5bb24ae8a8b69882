import Glibc

/// libFuzzer's own loop, which calls `body` with one input after the other.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// A decoder of bytes from outside, and inputs to begin with.
struct FuzzTarget: Sendable {
    /// Its name on the command line.
    let name: String
    /// Inputs that reach deep; the fuzzer changes them.
    let seeds: [[UInt8]]
    /// Decodes; returns whatever the input, and never traps.
    let body: @Sendable ([UInt8]) -> Void

    init(_ name: String, seeds: [[UInt8]], body: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.seeds = seeds
        self.body = body
    }

    /// The same with inputs that are texts.
    init(_ name: String, texts: [String], body: @escaping @Sendable (String) -> Void) {
        self.init(name, seeds: texts.map { Array($0.utf8) }) { body(String(decoding: $0, as: UTF8.self)) }
    }

    /// The one that this process runs.
    static let chosen: FuzzTarget? = getenv("FEEDBRIDGE_FUZZ").flatMap { name in
        all.first { $0.name == String(cString: name) }
    }
}

/// `Fuzz --list` prints the names, `Fuzz --seeds FOLDER` writes the first inputs; anything else is for libFuzzer.
///
/// The environment names the decoder, since libFuzzer starts itself again with the same arguments.
@main
struct Fuzz {
    static func main() {
        let arguments = CommandLine.arguments
        if arguments.dropFirst().first == "--list" {
            for target in FuzzTarget.all { print(target.name) }
            return
        }
        guard let target = FuzzTarget.chosen else {
            print("FEEDBRIDGE_FUZZ names none of the decoders that --list shows")
            exit(2)
        }
        if arguments.count == 3, arguments[1] == "--seeds" {
            for (number, seed) in target.seeds.enumerated() {
                guard let file = fopen("\(arguments[2])/seed-\(number)", "w") else { exit(1) }
                fwrite(seed, 1, seed.count, file)
                fclose(file)
            }
            return
        }
        var count = CommandLine.argc
        var words = CommandLine.unsafeArgv
        exit(
            runDriver(&count, &words) { start, count in
                FuzzTarget.chosen?.body(Array(UnsafeBufferPointer(start: start, count: count)))
                return 0
            }
        )
    }
}
