internal import AdafruitIOClient
internal import Control
internal import DataPoints
internal import FastJSON
internal import Feeds
internal import Samples

/// The blocks of a bridge's dashboard: a toggle, its status, a chart for each numeric rule, a map for located ones.
struct DashboardPlan: Sendable, Equatable {
    /// One block, and how much room it takes of eight columns.
    struct Block: Sendable, Equatable {
        var visualType: String
        var name: String
        var feed: FeedKey
        var properties: JSONObject
        var width: Int
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
                width: 2,
                height: 2
            ),
            Block(
                visualType: "text",
                name: "Status",
                feed: control.statusFeed,
                properties: ["static": "no"],
                width: 2,
                height: 2
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
                        width: 4,
                        height: 4
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
                        width: 4,
                        height: 4
                    )
                )
            } else {
                blocks.append(
                    Block(
                        visualType: rule.isComposite ? "stream" : "text",
                        name: rule.isComposite ? rule.feed.text : title,
                        feed: rule.feed,
                        properties: [:],
                        width: 4,
                        height: rule.isComposite ? 4 : 2
                    )
                )
            }
        }
    }

    /// Places for blocks of these sizes, row by row, below row `top`, in a grid of `columns`.
    static func places(
        _ blocks: [(id: String, width: Int, height: Int)],
        columns: Int,
        top: Int = 0
    ) -> [AdafruitIOLayouts.Place] {
        var (x, y, rowHeight) = (0, top, 0)
        return blocks.map { block in
            let width = min(block.width, columns)
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
