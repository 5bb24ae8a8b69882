internal import Diagnostics
public import FastJSON
internal import Samples

extension Session {
    /// The session as `feedbridge sessions list --json` shows it.
    public var json: JSON {
        .object(
            JSONObject([
                ("id", .number(JSONNumber(id))),
                ("start", .string(start.description)),
                ("end", end.map { .string($0.description) } ?? .null),
                ("reason", .string(reason.rawValue)),
                ("state", .string(state.rawValue)),
                (
                    "samples",
                    .object(JSONObject(samples.sorted { $0.key < $1.key }.map { ($0.key.text, JSON($0.value)) }))
                ),
                ("drops", .number(JSONNumber(drops))),
                ("end_reason", endReason.map { .string($0.rawValue) } ?? .null),
                ("host", .string(host)),
                ("software", .string(software)),
                ("unsynchronised", .bool(isUnsynchronised)),
            ])
        )
    }
}
