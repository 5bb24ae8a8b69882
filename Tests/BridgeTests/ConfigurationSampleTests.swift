import Alerts
import DataPoints
import Diagnostics
import Feeds
import Foundation
import IIOSamplers
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
        #expect(configuration.samplers.count == 12)
        #expect(configuration.forwards.count == 1)
        #expect(configuration.derivations.map(\.kind) == ["steps", "geofence"])
        #expect(configuration.alerting.alerts.map(\.name) == ["hot", "arrived", "silent"])
        #expect(configuration.rules.contains { $0.rule.isComposite })
    }

    @Test("has every key that is read: none is left undocumented")
    func everyKeyIsThere() throws {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/Bridge/Bridge/Configuration")
        let files = try FileManager.default.contentsOfDirectory(at: source, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("Configuration+") }
        let reader = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let calls =
            /(?:table|root)\.(?:string|strings|topic|part|positive|flag|number|integer|duration|size|word|value|feed|name|subtables?)\("([a-z_]+)"/
        var read = Set(reader.matches(of: calls).map { String($0.1) })
        if reader.contains("table.suffix()") { read.insert("suffix") }
        read.formUnion(reader.matches(of: /endpoint\(table, "([a-z_]+)"/).map { String($0.1) })
        #expect(read.count > 30)
        let tables: Set = [
            "account", "switch", "outbox", "recorder", "http", "broker", "forward", "sampler", "derivation",
            "geofence", "alert", "rule",
        ]

        let (text, keys) = uncommented()

        #expect(read.subtracting(tables).subtracting(keys).isEmpty)
        for table in tables { #expect(text.contains("[\(table)]")) }
    }

    @Test("names each sensor that was found, with its channels, a suffix where a name is taken, and rules")
    func sensors() throws {
        let machine = try FakeMachine()
        for (number, label) in [(0, "accel-base"), (1, "accel-display")] {
            let files = ["label": label, "in_accel_x_raw": "1", "in_accel_scale": "1"]
            try machine.addIIODevice(number, name: "bma400", device: "i2c-\(number)", files)
        }
        try machine.addIIODevice(2, name: "odd\"\\name", device: "i2c-3", ["in_illuminance_input": "1"])
        var sample = ConfigurationSample(name: "a", username: "ada", streams: [])
        sample.sensors = IIODescription.all(root: machine.root)

        #expect(problems(sample.text).isEmpty, "\(problems(sample.text))")
        let configuration = try Configuration(parsing: sample.text, file: "feedbridge.toml")
        let found = configuration.samplers.compactMap { sampler -> IIOConfiguration? in
            if case .iio(let iio) = sampler.kind { iio } else { nil }
        }
        #expect(found.map(\.device) == ["accel-base", "accel-display", "odd??name"])
        #expect(found.map(\.channels) == [["accel"], ["accel"], ["illuminance"]])
        #expect(found.map(\.suffix) == [nil, "display", nil])
        #expect(configuration.rules.map(\.rule.feed.text) == ["light"])
    }

    @Test("rules are only for what this machine has")
    func machine() {
        let bare = ConfigurationSample(name: "a", username: "ada", streams: []).text

        #expect(problems(bare).isEmpty)
        #expect(!bare.split(separator: "\n").contains("[[rule]]"))
    }
}
