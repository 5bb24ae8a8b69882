internal import Glibc

/// Measures parts of the project: `Benchmark PART [ARGUMENTS]`. `Scripts/benchmarks` has a script for each part, which
/// also measures what it is compared with.
@main
enum Benchmark {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch arguments.first {
            case "recorder": try await RecorderBenchmark.run(Array(arguments.dropFirst()))
            default:
                say("usage: Benchmark recorder FOLDER SAMPLES BATCH COMMIT")
                exit(2)
            }
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    static func say(_ text: String) {
        let line = Array("Benchmark: \(text)\n".utf8)
        write(STDERR_FILENO, line, line.count)
    }
}
