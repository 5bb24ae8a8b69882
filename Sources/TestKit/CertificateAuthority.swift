/// A certificate authority made on the spot with the `openssl` program.
public final class CertificateAuthority: Sendable {
    /// A certificate and its key, as PEM files.
    public struct Certificate: Sendable {
        /// The certificate.
        public let certificateFile: String
        /// The unencrypted key.
        public let keyFile: String
    }

    /// When a certificate is valid.
    public enum Validity: Sendable {
        /// From yesterday for ten years.
        case now
        /// Until the year 2001.
        case expired
        /// From the year 2090.
        case notYet

        fileprivate var arguments: [String] {
            switch self {
            case .now: ["-days", "3650"]
            case .expired: ["-startdate", "20000101000000Z", "-enddate", "20010101000000Z"]
            case .notYet: ["-startdate", "20900101000000Z", "-enddate", "20910101000000Z"]
            }
        }
    }

    private let directory: TemporaryDirectory

    /// The authority's own certificate: what clients have to trust.
    public var certificateFile: String { directory.file("ca.pem") }

    /// Makes an authority called `name`.
    public init(_ name: String = "Test authority") async throws {
        directory = TemporaryDirectory()
        try directory.write(
            """
            [ca]
            default_ca = here
            [here]
            dir = \(directory.path)
            database = $dir/index.txt
            new_certs_dir = $dir
            rand_serial = yes
            default_md = sha256
            policy = anything
            unique_subject = no
            copy_extensions = copy
            [anything]
            commonName = supplied

            """,
            to: "openssl.cnf"
        )
        try directory.write("", to: "index.txt")
        try await ChildProcess.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650",
                "-keyout", directory.file("ca.key"), "-out", certificateFile, "-subj", "/CN=\(name)",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign",
            ]
        )
    }

    /// Signs a certificate for `names`, each a host name or an address.
    public func issue(
        _ names: [String] = ["localhost", "127.0.0.1"],
        _ validity: Validity = .now,
        file: String = "server"
    ) async throws -> Certificate {
        let (key, request) = (directory.file("\(file).key"), directory.file("\(file).csr"))
        let certificate = directory.file("\(file).pem")
        let alternatives = names.map { name in
            let isAddress = name.contains(":") || name.allSatisfy { $0.isNumber || $0 == "." }
            return "\(isAddress ? "IP" : "DNS"):\(name)"
        }
        try await ChildProcess.run(
            "openssl",
            [
                "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                "-out", request, "-subj", "/CN=\(names.first ?? "nobody")",
                "-addext", "subjectAltName=\(alternatives.joined(separator: ","))",
            ]
        )
        try await ChildProcess.run(
            "openssl",
            [
                "ca", "-config", directory.file("openssl.cnf"), "-batch", "-notext", "-cert", certificateFile,
                "-keyfile", directory.file("ca.key"), "-in", request, "-out", certificate,
            ] + validity.arguments
        )
        return Certificate(certificateFile: certificate, keyFile: key)
    }
}
