public import DataPoints
internal import FastJSON

extension FeedPayload {
    /// What is published on a feed's own topic for a point: the bare value, or JSON when there is more to say.
    ///
    /// With a place it is `{"value":...,"lat":...,"lon":...}`. A value that is an object itself goes as
    /// `{"value":OBJECT}`: bare, one with a member `value` would be opened by the service and lose the others.
    public static func published(_ point: DataPoint) -> String {
        let object = object(in: point.value)
        guard object != nil || point.location != nil else { return point.value }
        let members = JSONObject([("value", object ?? .string(point.value))])
        return JSON.object(members.adding(point.location)).serialized()
    }

    private static func object(in text: String) -> JSON? {
        guard text.utf8.first == UInt8(ascii: "{"), let json = try? JSON.parse(text), json.object != nil else {
            return nil
        }
        return json
    }
}
