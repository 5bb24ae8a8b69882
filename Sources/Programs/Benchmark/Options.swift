internal import Glibc

/// Something that keeps a benchmark from running.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// `--name value` pairs.
struct Options {
    private var values: [String: String] = [:]

    init(_ arguments: ArraySlice<String>) throws {
        var rest = arguments
        while let name = rest.popFirst() {
            guard name.hasPrefix("--"), let value = rest.popFirst() else {
                throw BenchmarkError("'\(name)' is no option with a value")
            }
            values[String(name.dropFirst(2))] = value
        }
    }

    func text(_ name: String, _ fallback: String) -> String { values[name] ?? fallback }

    func number(_ name: String, _ fallback: Int? = nil) throws -> Int {
        guard let text = values[name] else {
            guard let fallback else { throw BenchmarkError("--\(name) is missing") }
            return fallback
        }
        guard let number = Int(text) else { throw BenchmarkError("--\(name): '\(text)' is no number") }
        return number
    }
}

/// Writes a line to stderr.
func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// Ends the program.
func exit(_ code: Int32) -> Never { Glibc.exit(code) }
