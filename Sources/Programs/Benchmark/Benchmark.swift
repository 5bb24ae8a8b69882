/// Measures parts of the project, one subcommand each, for the scripts in `Scripts/benchmarks`.
@main
enum Benchmark {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        do {
            switch arguments.first {
            case "mqtt": try await benchmarkMQTT(Options(arguments.dropFirst()))
            default: throw BenchmarkError("usage: Benchmark mqtt --port PORT [--count 60000] ...")
            }
        } catch {
            say("Benchmark: \(error)")
            exit(1)
        }
    }
}
