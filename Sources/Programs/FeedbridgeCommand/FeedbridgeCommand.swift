import Bridge
import Diagnostics
import FoundationEssentials
import Glibc

/// The program `feedbridge`: arguments in, exit code out. Everything else is `Bridge`.
@main
struct FeedbridgeCommand {
    static func main() async {
        umask(0o077)
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    private static func run(_ arguments: [String]) async -> Int32 {
        let environment = ProcessInfo.processInfo.environment
        let isVerbose = environment["FEEDBRIDGE_LOG"] == "debug"
        let log = Log(program: "feedbridge", least: isVerbose ? .debug : .info)
        do throws(UsageError) {
            switch try Invocation(arguments) {
            case .print(let text):
                print(text)
                return 0
            case .run(let command, let configurationFile):
                let context = CommandContext(
                    configurationFile: configurationFile,
                    environment: environment,
                    log: log,
                    output: print
                )
                return await execute(command, context)
            }
        } catch {
            log.error("\(error.message). See: feedbridge --help")
            return 2
        }
    }

    private static func execute(_ command: any Command, _ context: CommandContext) async -> Int32 {
        do {
            try await command.run(context)
            return 0
        } catch let error as ConfigurationError {
            for problem in error.problems { context.log.error(problem.description) }
            return 2
        } catch let error as CommandError {
            context.log.error(error.description)
            return error.exitCode
        } catch {
            context.log.error("\(error)")
            return 1
        }
    }

    /// Writes data to stdout; ends the program when nobody reads it any more.
    @Sendable
    private static func print(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let written = write(STDOUT_FILENO, rest.baseAddress, rest.count)
                if written < 0 {
                    if errno == EINTR { continue }
                    exit(1)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            }
        }
    }
}
