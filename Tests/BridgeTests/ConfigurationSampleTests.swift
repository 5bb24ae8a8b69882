import Diagnostics
import Feeds
import Foundation
import TestKit
import Testing

@testable import Bridge

@Suite("The commented configuration")
struct ConfigurationSampleTests {
    private func sample(_ username: String? = "ada") -> String {
        ConfigurationSample(name: "greenhouse", username: username, streams: SamplerFactory.hostStreams()).text
    }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try Configuration(parsing: text, file: "feedbridge.toml")
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    /// The sample with every key in a comment brought to life.
    private func uncommented() -> (text: String, keys: Set<String>) {
        var keys: Set<String> = []
        var lines: [String] = []
        // A rule's keys are explained before the rules; they belong to the last one.
        var explained: [String] = []
        for line in sample().split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if let match = line.wholeMatch(of: /#\s{3}([a-z_]+) = ([^ ]+)\s{2,}.*/) {
                keys.insert(String(match.1))
                explained.append("\(match.1) = \(match.2)")
            } else if let match = line.wholeMatch(of: /(?:# )?([a-z_]+) = .*/) {
                keys.insert(String(match.1))
                lines.append(line.hasPrefix("# ") ? String(line.dropFirst(2)) : line)
            } else if let match = line.wholeMatch(of: /# (\[\[?[a-z]+\]\]?)/) {
                if match.1 == "[[rule]]" {
                    lines += explained.filter { text in
                        !["precision", "always", "reduce"].contains { text.hasPrefix($0) }
                    }
                }
                lines.append(String(match.1))
            } else {
                lines.append(line)
            }
        }
        return (lines.joined(separator: "\n"), keys)
    }

    @Test("is right as it is, with and without an account's name, whatever that is")
    func parses() {
        for name in ["ada", nil, "", "a\"b\n[evil]", "name with spaces", "a/b"] {
            #expect(problems(sample(name)).isEmpty, "\(name ?? "nil"): \(problems(sample(name)))")
        }
        #expect(sample("ada").contains("username = \"ada\""))
    }

    @Test("is right with every key in a comment brought to life: no key is documented that does not exist")
    func everyKeyExists() throws {
        let (text, keys) = uncommented()

        #expect(keys.count > 25)
        #expect(problems(text).isEmpty, "\(problems(text))\n\(text)")
        let configuration = try Configuration(parsing: text, file: "feedbridge.toml")
        #expect(configuration.samplers.count == 8)
        #expect(configuration.forwards.count == 1)
        #expect(configuration.rules.contains { $0.rule.isComposite })
    }

    @Test("has every key that is read: none is left undocumented")
    func everyKeyIsThere() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/Bridge/Bridge/Configuration")
        let reader = try ["Configuration+Reading.swift", "Configuration+Phones.swift"].map { name in
            try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        }.joined()
        let calls =
            /(?:table|root)\.(?:string|strings|part|flag|number|integer|duration|size|word|value|feed|name|subtables?)\("([a-z_]+)"/
        var read = Set(reader.matches(of: calls).map { String($0.1) })
        read.formUnion(reader.matches(of: /endpoint\(table, "([a-z_]+)"/).map { String($0.1) })
        #expect(read.count > 30)
        let tables: Set = ["account", "switch", "outbox", "recorder", "http", "broker", "forward", "sampler", "rule"]

        let (text, keys) = uncommented()

        #expect(read.subtracting(tables).subtracting(keys).isEmpty)
        for table in tables { #expect(text.contains("[\(table)]")) }
    }

    @Test("rules are only for what this machine has")
    func machine() {
        let bare = ConfigurationSample(name: "a", username: "ada", streams: []).text

        #expect(problems(bare).isEmpty)
        #expect(!bare.split(separator: "\n").contains("[[rule]]"))
    }
}
