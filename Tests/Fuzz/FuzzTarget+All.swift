extension FuzzTarget {
    /// Every decoder. A new one needs its line here.
    static let all: [FuzzTarget] = [
        .mqttWire, .mqttTopics, .payloads, .serviceTexts, .restRequests, .restReplies, .json, .configuration, .csv,
        .controlWords, .outboxPages, .outboxFile, .outboxLog, .healthExport, .xml, .zoneFile, .savedState, .words,
    ]
}
