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
            case "delivery": try await benchmarkDelivery(Options(arguments.dropFirst()))
            case "recorder": try await RecorderBenchmark.run(Array(arguments.dropFirst()))
            case "phones": try await PhonesBenchmark.run(Options(arguments.dropFirst()))
            case "outbox": try await OutboxBenchmark.run(Array(arguments.dropFirst()))
            case "rules": try benchmarkRules(Options(arguments.dropFirst()))
            case "host": try await benchmarkHost(Options(arguments.dropFirst()))
            case "iio": try await benchmarkIIO(Options(arguments.dropFirst()))
            case "derivations": try benchmarkDerivations(Options(arguments.dropFirst()))
            case "replay": try await benchmarkReplay(Options(arguments.dropFirst()))
            default:
                throw BenchmarkError(
                    "usage: Benchmark mqtt --port PORT [--count 60000], delivery --port PORT --folder FOLDER [--count 60000]"
                        + " [--durability full|normal], recorder FOLDER SAMPLES BATCH COMMIT, "
                        + "phones --folder FOLDER [--posts 500] [--samples 1000], "
                        + "outbox write FOLDER POINTS COMMIT full|normal, outbox open FOLDER, "
                        + "rules [--samples N] [--batch N], derivations [--samples N], host [--every-ms N], "
                        + "iio --root FOLDER --mode poll|buffer|batch [--every-ms 10] [--seconds 10], "
                        + "or replay --file FILE [--copies 3] [--seconds 10] [--speed 1]"
                )
            }
        } catch {
            say("Benchmark: \(error)")
            exit(1)
        }
    }
}
