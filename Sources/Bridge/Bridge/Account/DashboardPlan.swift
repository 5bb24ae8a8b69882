internal import AdafruitIOClient
internal import Control
internal import DataPoints
internal import FastJSON
internal import Feeds
internal import Samples

/// The blocks of a bridge's dashboard: a toggle, its status, a chart for each numeric rule, a map for located ones.
struct DashboardPlan: Sendable, Equatable {
    /// One block, and how many rows it takes; each is half as wide as a wide screen.
    struct Block: Sendable, Equatable {
        var visualType: String
        var name: String
        var feed: FeedKey
        var properties: JSONObject
        var height: Int
    }

    var blocks: [Block]

    /// `streams` tells which fields are numbers.
    init(_ configuration: Configuration, words: SwitchWords, streams: [Stream]) {
        let control = configuration.control
        blocks = [
            Block(
                visualType: "toggle_button",
                name: "Recording",
                feed: control.feed,
                properties: [
                    "onText": .string(words.written(.on)), "offText": .string(words.written(.off)),
                    "onValue": .string(words.written(.on)), "offValue": .string(words.written(.off)),
                ],
                height: 3
            ),
            Block(
                visualType: "text",
                name: "Status",
                feed: control.statusFeed,
                properties: ["static": "no"],
                height: 3
            ),
        ]
        for rule in configuration.rules.map(\.rule) {
            if rule.location != nil {
                blocks.append(
                    Block(
                        visualType: "map",
                        name: "\(rule.feed.text) map",
                        feed: rule.feed,
                        properties: ["historyHours": "1"],
                        height: 5
                    )
                )
            }
            let title = rule.fields.map(\.description).joined(separator: ", ")
            if Self.isNumeric(rule, streams) {
                blocks.append(
                    Block(
                        visualType: "line_chart",
                        name: title,
                        feed: rule.feed,
                        properties: [
                            "historyHours": "1", "xAxisLabel": "", "yAxisLabel": .string(Self.unit(rule, streams)),
                            "feedKeyLegend": "yes",
                        ],
                        height: 5
                    )
                )
            } else {
                blocks.append(
                    Block(
                        visualType: rule.isComposite ? "stream" : "text",
                        name: rule.isComposite ? rule.feed.text : title,
                        feed: rule.feed,
                        properties: [:],
                        height: rule.isComposite ? 5 : 3
                    )
                )
            }
        }
    }

    /// The columns of each layout, as the service's own examples have them.
    static let columns = ["xl": 16, "lg": 16, "md": 8, "sm": 4, "xs": 4]

    /// Places for blocks of these heights, row by row, below row `top`: two side by side, or one where it is narrow.
    static func places(_ blocks: [(id: String, height: Int)], columns: Int, top: Int = 0) -> [AdafruitIOLayouts.Place] {
        let width = columns > 4 ? columns / 2 : columns
        var (x, y, rowHeight) = (0, top, 0)
        return blocks.map { block in
            if x + width > columns {
                (x, y, rowHeight) = (0, y + rowHeight, 0)
            }
            defer {
                x += width
                rowHeight = max(rowHeight, block.height)
            }
            return AdafruitIOLayouts.Place(block: block.id, x: x, y: y, width: width, height: block.height)
        }
    }

    private static func field(_ rule: Rule, _ streams: [Stream]) -> Field? {
        guard !rule.isComposite, let reference = rule.fields.first,
            let stream = streams.first(where: { $0.name == reference.stream }),
            let index = stream.index(of: reference.field)
        else { return nil }
        return stream.fields[index]
    }

    private static func isNumeric(_ rule: Rule, _ streams: [Stream]) -> Bool {
        guard !rule.isComposite else { return false }
        if rule.reduction != .last { return true }
        return field(rule, streams)?.kind != .text
    }

    private static func unit(_ rule: Rule, _ streams: [Stream]) -> String {
        rule.reduction == .count ? "" : field(rule, streams)?.unit.rawValue ?? ""
    }
}
