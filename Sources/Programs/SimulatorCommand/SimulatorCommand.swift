internal import Diagnostics
internal import Dispatch
internal import Glibc
internal import Simulator

/// The program `adafruit-io-simulator`: arguments, ready line, signals, exit status.
@main
enum SimulatorCommand {
    static let version = "0.1.0"

    static func main() {
        let arguments: SimulatorArguments
        do throws(SimulatorArguments.Failure) {
            arguments = try SimulatorArguments(Array(CommandLine.arguments.dropFirst()))
        } catch {
            say(STDERR_FILENO, "adafruit-io-simulator: \(error)\n")
            exit(2)
        }
        if arguments.wantsHelp {
            say(STDOUT_FILENO, SimulatorArguments.help)
            return
        }
        if arguments.wantsVersion {
            say(STDOUT_FILENO, "adafruit-io-simulator \(version)\n")
            return
        }
        exit(run(arguments))
    }

    private static func run(_ arguments: SimulatorArguments) -> Int32 {
        // Blocked before any thread is made, so that all inherit it and only `sigwait` below takes them.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)

        let log = Log(program: "adafruit-io-simulator", least: arguments.isVerbose ? .debug : .info)
        let program: SimulatorProgram
        do throws(SimulatorError) {
            program = try SimulatorProgram(arguments, log: log)
        } catch {
            say(STDERR_FILENO, "adafruit-io-simulator: \(error)\n")
            return if case .keyFile = error { 2 } else { 1 }
        }
        say(STDOUT_FILENO, program.readyLine)

        var signal: Int32 = 0
        sigwait(&signals, &signal)
        // A second signal ends the program at once, as it does by default.
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await program.stop()
            done.signal()
        }
        return done.wait(timeout: .now() + .seconds(5)) == .success ? 0 : 1
    }

    private static func say(_ descriptor: Int32, _ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = write(descriptor, rest.baseAddress, rest.count)
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
        }
    }
}
