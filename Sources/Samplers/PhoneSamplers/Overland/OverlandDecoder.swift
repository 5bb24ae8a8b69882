// Overland (iOS): positions in batches of GeoJSON, kept by the phone until they are stored here.
//
// Units: SI; -1 is unknown. Rate: up to one fix a second, 50 to 1000 in a batch. What goes wrong: the phone deletes what
// was answered with `{"result":"ok"}`, so that comes after the store only; one bad feature must not hold up its batch for
// ever, so it is counted and the batch answered; `current` comes again in a later batch; events have no geometry.
internal import Diagnostics
internal import FastJSON
internal import Samples

struct OverlandDecoder: PushDecoder {
    private let naming: StreamNaming

    init(naming: StreamNaming = StreamNaming(suffix: nil)) {
        self.naming = naming
    }

    static func streams(_ naming: StreamNaming) -> [Samples.Stream] {
        ["location", "battery", "activity"].map(naming.known)
    }

    mutating func decode(
        _ message: PushMessage,
        into gathering: inout SampleGathering
    ) throws(PushRefusal) -> PushReply {
        let json: JSON
        do {
            json = try JSON.parse(message.body)
        } catch {
            throw PushRefusal(400, "The body is no batch of Overland: \(error).")
        }
        guard let features = json["locations"]?.array else {
            throw PushRefusal(400, "The body is no batch of Overland: there is no list \"locations\".")
        }
        for feature in features { read(feature, into: &gathering) }
        if let current = json["current"], current.object != nil { read(current, into: &gathering) }
        return .ok
    }

    private func read(_ feature: JSON, into gathering: inout SampleGathering) {
        let place = naming.known("location")
        let properties = feature["properties"]
        guard let time = properties?["timestamp"]?.string.flatMap({ Timestamp(iso8601: $0) }) else {
            return gathering.reject(place.name, "a feature without a timestamp")
        }
        let device = properties?["device_id"]?.string ?? ""
        if let level = number(properties?["battery_level"]), (0...1).contains(level),
            gathering.isNew(RecentKeys.key(device, "battery", time))
        {
            gathering.add(
                naming.known("battery"),
                time,
                [Value(level * 100), .word(properties?["battery_state"]?.string)]
            )
        }
        if let motion = properties?["motion"]?[0]?.string, !motion.isEmpty,
            gathering.isNew(RecentKeys.key(device, "motion", time))
        {
            gathering.add(naming.known("activity"), time, [.word(motion), .missing])
        }
        guard let geometry = feature["geometry"], !geometry.isNull else {
            // The start and the end of the app are features without a place.
            return
        }
        guard let longitude = number(geometry["coordinates"]?[0]), let latitude = number(geometry["coordinates"]?[1]),
            latitude.magnitude <= 90, longitude.magnitude <= 180
        else { return gathering.reject(place.name, "a feature without a position") }
        guard gathering.isNew(RecentKeys.key(device, "fix", time, latitude, longitude), of: place.name) else { return }
        // An altitude whose accuracy is unknown is a guess, but -1 is none.
        let accuracy = number(properties?["vertical_accuracy"])
        let altitude = number(properties?["altitude"])
        let isUnknown = altitude == -1 && accuracy.map { $0 < 0 } ?? true
        gathering.add(
            place,
            time,
            [
                Value(latitude), Value(longitude), isUnknown ? .missing : .number(altitude),
                .unlessNegative(number(properties?["horizontal_accuracy"])),
                .unlessNegative(number(properties?["speed"])), .unlessNegative(number(properties?["course"])),
            ]
        )
    }

    private func number(_ json: JSON?) -> Double? {
        json?.double.flatMap { $0.isFinite ? $0 : nil }
    }
}
