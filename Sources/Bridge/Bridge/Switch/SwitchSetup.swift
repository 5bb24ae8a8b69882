internal import Control
internal import DataPoints

/// What the configuration says about the switch.
struct SwitchSetup: Sendable, Equatable {
    var settings: SwitchSettings
    var controlFeed: FeedKey
    var statusFeed: FeedKey
    var limits: SessionLimits

    init(_ configuration: Configuration) throws(ConfigurationError) {
        let control = configuration.control
        let words: SwitchWords
        do {
            words = try SwitchWords(on: control.onWords, off: control.offWords)
        } catch {
            let problem = ConfigurationProblem(file: configuration.file, line: 0, column: 0, text: "[switch] \(error)")
            throw ConfigurationError(problems: [problem])
        }
        settings = SwitchSettings(
            words: words,
            onStart: control.onStart,
            writeBack: control.writeBack,
            canAsk: !configuration.account.isPlain,
            hasREST: !configuration.account.isPlain,
            pollEvery: configuration.account.delivery.pollEvery
        )
        if configuration.account.isPlain {
            // Nobody counts points there, and the will may stand in the status: it is put right at once.
            settings.statusInterval = .seconds(1)
        }
        controlFeed = control.feed
        statusFeed = control.statusFeed
        limits = SessionLimits(
            longestSession: configuration.recorder.longestSession,
            smallestFree: Int64(configuration.recorder.smallestFree)
        )
    }
}
