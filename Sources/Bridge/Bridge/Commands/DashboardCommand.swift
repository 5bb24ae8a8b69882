internal import AdafruitIOClient
internal import Control
internal import DataPoints
internal import Diagnostics
internal import FastJSON
internal import Feeds
internal import Samples

/// `feedbridge dashboard create`: makes what is missing of the feeds and of the dashboard. Deletes nothing.
public struct DashboardCommand: Command {
    private let name: String?
    private let dryRun: Bool

    /// Makes the command; without a name the dashboard has the bridge's.
    public init(name: String?, dryRun: Bool) {
        self.name = name
        self.dryRun = dryRun
    }

    /// Looks at the account, checks the plan's numbers, then creates.
    public func run(_ context: CommandContext) async throws {
        let configuration = try context.configuration()
        guard !configuration.account.isPlain else {
            throw CommandError(
                "\(configuration.file) has profile = \"mqtt\": dashboards are Adafruit IO's, a plain broker has none. Let a dashboard of your own read the topics that feedbridge check lists"
            )
        }
        guard let key = try ConfigurationFile.key(for: configuration, environment: context.environment) else { return }
        let streams = try SamplerFactory.make(configuration, time: SystemTime()).flatMap { $0.sampler.streams }
        let words = try SwitchSetup(configuration).settings.words
        let plan = DashboardPlan(configuration, words: words, streams: streams)
        let client = try AdafruitIOClient(configuration, key: key)
        defer { client.close() }
        let work = DashboardWork(
            client: client,
            name: name ?? configuration.name,
            plan: plan,
            feeds: [configuration.control.feed, configuration.control.statusFeed]
                + configuration.rules.map(\.rule.feed),
            isDryRun: dryRun,
            log: context.log,
            say: { context.output($0 + "\n") }
        )
        let dashboard = try await work.run()
        guard let dashboard else { return }
        context.output(
            "dashboard: \(configuration.account.webAddress)/\(configuration.account.username)/dashboards/\(dashboard)\n"
        )
    }
}

extension Configuration.Account {
    /// Where a browser finds the service's pages; the standard port is left out.
    var webAddress: String {
        let isStandard = (rest.scheme == "https" && rest.port == 443) || (rest.scheme == "http" && rest.port == 80)
        return isStandard ? "\(rest.scheme)://\(rest.host)" : rest.description
    }
}

/// Brings an account from what it has to what a plan wants.
private struct DashboardWork {
    let client: AdafruitIOClient
    let name: String
    let plan: DashboardPlan
    let feeds: [FeedKey]
    let isDryRun: Bool
    let log: Log
    let say: (String) -> Void

    /// The key of the dashboard; nil when nothing was to be created and it is not there.
    func run() async throws -> String? {
        let setup = FeedSetup(calls: DirectCalls(client: client), log: log)
        let missing = try await setup.missing(feeds)
        let dashboards = try await client.dashboards().value
        let existing = dashboards.first { $0.name == name } ?? dashboards.first { $0.key == name.lowercased() }
        try await checkLimits(setup, missing: missing, dashboards: dashboards.count, isNew: existing == nil)
        for feed in missing {
            if !isDryRun { try await setup.create(feed) }
            say("\(isDryRun ? "would create" : "created") feed \(feed) (private)")
        }
        if isDryRun {
            if existing == nil { say("would create dashboard \(name)") }
            let blocks = try await existingBlocks(existing)
            for block in plan.blocks where !isThere(block, in: blocks) {
                say("would create \(block.visualType) of \(block.feed)")
            }
            return existing?.key
        }
        let dashboard: AdafruitIODashboard
        if let existing {
            dashboard = try await client.dashboard(existing.key).value
        } else {
            let settings = AdafruitIODashboardSettings(name: name, visibility: .private)
            dashboard = try await client.createDashboard(settings).value
            say("created dashboard \(name)")
        }
        try await addBlocks(to: dashboard, isNew: existing == nil)
        return dashboard.key
    }

    private func addBlocks(to dashboard: AdafruitIODashboard, isNew: Bool) async throws {
        let there = try await client.blocks(of: dashboard.key).value
        var added: [(id: String, height: Int)] = []
        for block in plan.blocks where !isThere(block, in: there) {
            let settings = AdafruitIOBlockSettings(
                visualType: block.visualType,
                name: block.name,
                properties: block.properties,
                feeds: [AdafruitIOBlockFeed(block.feed.text)]
            )
            let made = try await client.createBlock(settings, in: dashboard.key).value
            added.append((made.id, block.height))
            say("created \(block.visualType) of \(block.feed)")
        }
        guard !added.isEmpty else { return }
        // What is there already keeps its place; what is new goes below it.
        var places = isNew ? [:] : dashboard.layouts?.places ?? [:]
        for width in AdafruitIOLayouts.widths {
            let columns = DashboardPlan.columns[width] ?? 8
            let kept = (places[width] ?? []).filter { place in !added.contains { $0.id == place.block } }
            let top = kept.map { $0.y + $0.height }.max() ?? 0
            places[width] = kept + DashboardPlan.places(added, columns: columns, top: top)
        }
        try await client.updateLayouts(of: dashboard.key, AdafruitIOLayouts(places))
    }

    private func existingBlocks(_ dashboard: AdafruitIODashboard?) async throws -> [AdafruitIOBlock] {
        guard let dashboard else { return [] }
        return try await client.blocks(of: dashboard.key).value
    }

    /// A block of that kind shows that feed already; its owner may have changed everything else.
    private func isThere(_ block: DashboardPlan.Block, in blocks: [AdafruitIOBlock]) -> Bool {
        blocks.contains { $0.visualType == block.visualType && $0.feedKeys.contains(block.feed.text) }
    }

    private func checkLimits(_ setup: FeedSetup, missing: [FeedKey], dashboards: Int, isNew: Bool) async throws {
        let limits = try await client.user().value.limits
        let count = missing.isEmpty ? 0 : try await client.feeds().value.count
        if let most = limits?.feeds, !missing.isEmpty, count + missing.count > most {
            throw CommandError(
                "the account has \(count) of the plan's \(most) feeds and \(missing.count) more are needed: \(missing.map(\.text).joined(separator: ", ")). Delete feeds, use fewer rules, or upgrade the plan"
            )
        }
        let groups = try await setup.missingGroups(of: missing)
        if let most = limits?.groups, !groups.isEmpty {
            let count = try await setup.groups().count
            guard count + groups.count <= most else {
                throw CommandError(
                    "the account has \(count) of the plan's \(most) groups and \(groups.count) more are needed: \(groups.joined(separator: ", ")). Delete groups, use feeds of fewer groups, or upgrade the plan"
                )
            }
        }
        if let most = limits?.dashboards, isNew, dashboards >= most {
            throw CommandError(
                "the account has \(dashboards) of the plan's \(most) dashboards. Delete one, or name one that is there with --name"
            )
        }
    }
}
