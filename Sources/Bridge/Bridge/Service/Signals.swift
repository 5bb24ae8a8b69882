internal import Diagnostics
internal import Dispatch
internal import Glibc

/// SIGTERM and SIGINT stop the program within 5 s, a second one at once; SIGHUP reads the configuration again.
final class Signals: Sendable {
    private let sources: Guarded<[any DispatchSourceSignal]>

    init(log: Log, stop: @escaping @Sendable () -> Void, reload: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "feedbridge.signals")
        let count = Counter()
        let ending: @Sendable () -> Void = {
            count.add()
            guard count.value == 1 else { _exit(1) }
            stop()
            queue.asyncAfter(deadline: .now() + 5) {
                log.error("stopping takes more than 5 s; ended")
                _exit(1)
            }
        }
        let handlers: [(Int32, @Sendable () -> Void)] = [(SIGTERM, ending), (SIGINT, ending), (SIGHUP, reload)]
        let made = handlers.map { number, handler in
            // The signal's own action is off, and the source sees it all the same.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler(handler: handler)
            source.resume()
            return source
        }
        signal(SIGPIPE, SIG_IGN)
        sources = Guarded(made)
    }

    /// Hears no more signals.
    func stop() {
        let made = sources.withLock { sources in
            defer { sources = [] }
            return sources
        }
        for source in made { source.cancel() }
    }
}
