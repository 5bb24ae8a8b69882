internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import HTTPServer

extension Configuration.HTTP {
    /// The certificate with its key; nil for plain HTTP.
    func tls(_ configuration: String) throws(ConfigurationError) -> HTTPServerTLS? {
        guard let certificate else { return nil }
        let keyFile = certificateKey ?? certificate
        var status = stat()
        guard stat(keyFile, &status) == 0, status.st_mode & (S_IRGRP | S_IROTH | S_IWGRP | S_IWOTH) == 0 else {
            throw problem(
                configuration,
                "\(keyFile) is missing, or group or others can read it. Run: chmod 600 \(keyFile)"
            )
        }
        guard let text = try? String(contentsOfFile: certificate, encoding: .utf8),
            let key = try? String(contentsOfFile: keyFile, encoding: .utf8)
        else {
            throw problem(configuration, "cannot read the certificate \(certificate) or its key \(keyFile)")
        }
        return HTTPServerTLS(certificate: text, key: Secret(key))
    }

    private func problem(_ file: String, _ text: String) -> ConfigurationError {
        ConfigurationError(problems: [ConfigurationProblem(file: file, line: 0, column: 0, text: text)])
    }
}
