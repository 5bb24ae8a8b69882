import HTTPClient

extension HTTPClientConfiguration {
    /// Waits longer than a busy machine needs: where time is not what a test is about, it must not decide.
    static var patient: HTTPClientConfiguration {
        var configuration = HTTPClientConfiguration()
        configuration.connectTimeout = .seconds(600)
        configuration.totalTimeout = .seconds(600)
        configuration.stallTimeout = .seconds(600)
        return configuration
    }
}
