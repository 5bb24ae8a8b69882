internal import AdafruitIO
internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import Feeds
internal import Publisher
internal import Samples

/// `feedbridge check`: checks the configuration and counts the data points a minute that it needs.
public struct CheckCommand: Command {
    private let json: Bool

    /// Makes the command.
    public init(json: Bool) {
        self.json = json
    }

    /// Prints what was found; throws when something is wrong.
    public func run(_ context: CommandContext) async throws {
        var problems: [ConfigurationProblem] = []
        var configuration: Configuration?
        do {
            let found = try context.configuration()
            configuration = found
            problems += Self.problems { () throws(ConfigurationError) in
                _ = try ConfigurationFile.key(for: found, environment: context.environment)
            }
            problems += Self.problems { () throws(ConfigurationError) in
                _ = try SamplerFactory.make(found, time: SystemTime())
            }
        } catch {
            problems = error.problems
        }
        let warnings = configuration.map { self.warnings($0, context) } ?? []
        if json { context.output(report(configuration, problems, warnings).serialized() + "\n") }
        guard problems.isEmpty, let configuration else {
            throw ConfigurationError(problems: problems)
        }
        if !json { context.output(text(configuration, warnings)) }
    }

    /// What is not wrong with the configuration, and still to be known.
    private func warnings(_ configuration: Configuration, _ context: CommandContext) -> [String] {
        var warnings: [String] = []
        if let limit = configuration.account.knownPoints, pointsPerMinute(configuration) > Double(limit) * 0.8 {
            warnings.append(
                "that is more than 80 % of \(limit). Points that find no room are dropped: raise some rule's every."
            )
        }
        guard let directory = try? StateDirectory(configuration, environment: context.environment) else {
            return warnings
        }
        for file in directory.damagedFiles {
            warnings.append(
                "a damaged file was set aside as \(file). What could be read of it was put back; remove it when you miss "
                    + "nothing of it."
            )
        }
        return warnings
    }

    private static func problems(_ body: () throws(ConfigurationError) -> Void) -> [ConfigurationProblem] {
        do {
            try body()
            return []
        } catch {
            return error.problems
        }
    }

    private func report(
        _ configuration: Configuration?,
        _ problems: [ConfigurationProblem],
        _ warnings: [String]
    ) -> JSON {
        let feeds = configuration.map(feeds) ?? []
        var report: JSONObject = [
            "points_per_minute": JSON(configuration.map(pointsPerMinute)),
            "plan": configuration.map(plan) ?? .null,
            "feeds": .array(feeds.map { .string($0.text) }),
            "warnings": .array(warnings.map { .string($0) }),
            "problems": .array(
                problems.map { ["line": JSON($0.line), "column": JSON($0.column), "text": .string($0.text)] }
            ),
        ]
        if let configuration, let broker = configuration.broker {
            report["topics"] = .array(feeds.map { .string(broker.topic($0)) })
        }
        return .object(report)
    }

    private func text(_ configuration: Configuration, _ warnings: [String]) -> String {
        var lines = ["\(configuration.file) is right."]
        let needed = pointsPerMinute(configuration)
        let shown = CanonicalText.number(needed, precision: 1) ?? "?"
        switch configuration.account.plan {
        case .auto where configuration.account.isPlain:
            lines.append("The rules need up to \(shown) data points a minute; the broker takes any number.")
        case .auto:
            lines.append(
                "The rules need up to \(shown) data points a minute; the plan is asked from the service (free: 30)."
            )
        case .pointsPerMinute(let limit):
            lines.append("The rules need up to \(shown) of the plan's \(limit) data points a minute.")
        }
        lines += warnings.map { "Warning: \($0)" }
        for rule in configuration.rules.map(\.rule) {
            let rate = CanonicalText.number(rule.pointsPerMinute, precision: 2) ?? "?"
            let what = rule.fields.map(\.description).joined(separator: ", ")
            lines.append(
                "  \(rule.feed.text.padded(to: 24)) \(rate.padded(to: 6)) a minute  \(rule.reduction) of \(what)"
            )
        }
        if let broker = configuration.broker {
            lines.append("Switch: \(broker.switchTopic), status: \(broker.statusTopic), both retained")
            let topics = configuration.rules.map { broker.topic($0.rule.feed) }
            lines.append("Topics used: \(topics.joined(separator: ", "))")
        } else {
            lines.append("Feeds used: \(feeds(configuration).map(\.text).joined(separator: ", "))")
        }
        let located = configuration.rules.map(\.rule).filter(publishesPlace)
        if !located.isEmpty {
            lines.append("Positions leave this machine through: \(located.map(\.feed.text).joined(separator: ", "))")
        }
        let bodily = configuration.rules.map(\.rule).filter(publishesHealth)
        if !bodily.isEmpty {
            lines.append("Health values leave this machine through: \(bodily.map(\.feed.text).joined(separator: ", "))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func pointsPerMinute(_ configuration: Configuration) -> Double {
        configuration.rules.reduce(0) { $0 + $1.rule.pointsPerMinute }
    }

    private func plan(_ configuration: Configuration) -> JSON {
        switch configuration.account.plan {
        case .auto where configuration.account.isPlain: .null
        case .auto: "auto"
        case .pointsPerMinute(AdafruitIOPlan.free.pointsPerMinute): "free"
        case .pointsPerMinute(AdafruitIOPlan.plus.pointsPerMinute): "plus"
        case .pointsPerMinute(let points): JSON(points)
        }
    }

    private func feeds(_ configuration: Configuration) -> [FeedKey] {
        [configuration.control.feed, configuration.control.statusFeed] + configuration.rules.map(\.rule.feed)
            + configuration.forwards.map(\.feed)
    }

    private func publishesHealth(_ rule: Rule) -> Bool {
        rule.fields.contains { field in
            ["heart_rate", "steps", "floors", "activity"].contains { field.stream.text.hasPrefix($0) }
        }
    }

    private func publishesPlace(_ rule: Rule) -> Bool {
        rule.location != nil || rule.fields.contains { $0.stream.text.hasPrefix("location") }
    }
}
