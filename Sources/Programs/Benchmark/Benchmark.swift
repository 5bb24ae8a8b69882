internal import Glibc

/// Measures parts of the project: `Benchmark PART [ARGUMENTS]`. `Scripts/benchmarks` has a script for each part, which
/// also measures what it is compared with.
@main
enum Benchmark {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            switch arguments.first {
            case "mqtt": try await benchmarkMQTT(Options(arguments.dropFirst()))
            case "recorder": try await RecorderBenchmark.run(Array(arguments.dropFirst()))
            default:
                throw BenchmarkError(
                    "usage: Benchmark mqtt --port PORT [--count 60000], or recorder FOLDER SAMPLES BATCH COMMIT"
                )
            }
        } catch {
            say("Benchmark: \(error)")
            exit(1)
        }
    }
}
