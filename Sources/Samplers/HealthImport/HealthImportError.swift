/// Why an export could not be read.
public enum HealthImportError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file is no export of Apple Health.
    case notAnExport(String)
    /// There is nothing in it.
    case empty(String)
    /// A tag is longer than any that an export has; at so many bytes.
    case damaged(Int)
    /// The zip has no export in it.
    case noExportInside(String)
    /// Room for intervals is missing.
    case temporaryFile(String, String)

    /// What failed, why, and what to do.
    public var description: String {
        switch self {
        case .notAnExport(let file):
            "\(file) is no export of Apple Health. Take the export.zip that the Health app makes, or the export.xml in it."
        case .empty(let file):
            "\(file) is empty. Let the Health app export again, and wait until it says that it is done."
        case .damaged(let place): "the export is damaged at byte \(place). Copy it again."
        case .noExportInside(let file):
            "\(file) has no export.xml in it. Take the export.zip that the Health app makes."
        case .temporaryFile(let name, let reason):
            "cannot keep intervals in \(name): \(reason). Make room there, or set TMPDIR to a folder with room."
        }
    }
}
