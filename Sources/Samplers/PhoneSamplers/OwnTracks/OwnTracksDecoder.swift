// OwnTracks (iOS and Android): positions, regions, beacons and steps, as JSON over HTTP or MQTT.
//
// Units: vel km/h, p kPa, alt m above sea level, tst and created_at in seconds. Rate: from a few fixes a day to one a
// second. What goes wrong: values that are zero are left out, and old versions send -1; the same fix comes again with a
// later created_at; numbers come as texts; steps are called a location; a transition carries the position before it, so
// only its event, region and time are used; enter of one region comes before leave of another.
internal import Diagnostics
internal import FastJSON
internal import FoundationEssentials
internal import Samples
internal import SecretBox

struct OwnTracksDecoder: PushDecoder {
    private struct Region: Sendable {
        var event: String
        var time: Timestamp
    }

    private let stepsEvery: Duration?
    private let box: SecretBox?
    private let naming: StreamNaming
    private let whole: Name
    /// What the regions of each device are called, by the time at which they were made.
    private var waypoints: [String: String] = [:]
    private var regions: [String: Region] = [:]
    private var asked: [String: (at: BootInstant, until: Timestamp)] = [:]
    private static let mostKept = 1024

    init(stepsEvery: Duration? = nil, box: SecretBox? = nil, naming: StreamNaming = StreamNaming(suffix: nil)) {
        self.stepsEvery = stepsEvery
        self.box = box
        self.naming = naming
        whole = naming.name("owntracks")
    }

    static func streams(_ naming: StreamNaming) -> [Samples.Stream] {
        ["location", "pressure", "battery", "geofence", "beacon", "steps", "floors"].map(naming.known)
    }

    mutating func decode(
        _ message: PushMessage,
        into gathering: inout SampleGathering
    ) throws(PushRefusal) -> PushReply {
        let nothing = PushReply("[]")
        // The app asks this way whether there are commands, and a broker is told this way to forget a message.
        guard message.body.contains(where: { $0 > 0x20 }) else { return nothing }
        let json: JSON
        do {
            json = try JSON.parse(message.body)
        } catch {
            throw PushRefusal(400, "The body is no message of OwnTracks: \(error).")
        }
        let device = device(json, message)
        for object in json.array ?? [json] {
            guard object.object != nil else {
                throw PushRefusal(400, "The body is no message of OwnTracks: it is no JSON object.")
            }
            try read(object, device, message, into: &gathering)
        }
        return PushReply(command(for: device, json, message).map { "[\($0)]" } ?? "[]")
    }

    private mutating func read(
        _ object: JSON,
        _ device: String,
        _ message: PushMessage,
        into gathering: inout SampleGathering
    ) throws(PushRefusal) {
        let topic = message.topic.isEmpty ? object["topic"]?.string ?? "" : message.topic
        // What a message is called may be wrong; what it holds is not.
        if topic.hasSuffix("/step") || (object["steps"] != nil && object["lat"] == nil) {
            readSteps(object, device, into: &gathering)
            return
        }
        switch object["_type"]?.string {
        case "location": readLocation(object, device, into: &gathering)
        case "transition": readTransition(object, device, into: &gathering)
        case "waypoint": learn(object, device)
        case "waypoints": for waypoint in object["waypoints"]?.array ?? [] { learn(waypoint, device) }
        case "beacon": readBeacon(object, device, into: &gathering)
        case "encrypted":
            let inner = try opened(object)
            // One box in another would be no message, and a thousand no stack.
            guard inner["_type"]?.string != "encrypted" else { throw PushRefusal(400, "A box holds another box.") }
            try read(inner, device, message, into: &gathering)
        case "lwt", "cmd", "card", "status", "dump", "configuration", "request": break
        case let other: gathering.reject(whole, "a message of the type \(other.map { "\"\($0)\"" } ?? "nothing")")
        }
    }

    /// What an encrypted message says. Its secret box begins with the nonce.
    private func opened(_ object: JSON) throws(PushRefusal) -> JSON {
        guard let box else {
            throw PushRefusal(
                422,
                "Encrypted messages need a secret_file for this sampler. Or clear the encryption key in the app: HTTPS protects the way."
            )
        }
        guard let data = object["data"]?.string.flatMap({ Data(base64Encoded: $0) }), let text = box.open(Array(data)),
            let inner = try? JSON.parse(text), inner.object != nil
        else {
            throw PushRefusal(422, "An encrypted message cannot be opened: the app's encryption key is another one.")
        }
        return inner
    }

    // MARK: Kinds of messages

    private func readLocation(_ object: JSON, _ device: String, into gathering: inout SampleGathering) {
        guard let fixed = time(object["tst"]) else { return gathering.reject(whole, "a location without tst") }
        let sent = time(object["created_at"]) ?? fixed
        let place = naming.known("location")
        let latitude = number(object["lat"])
        let longitude = number(object["lon"])
        if let latitude, let longitude, latitude.magnitude <= 90, longitude.magnitude <= 180 {
            if gathering.isNew(RecentKeys.key(device, "fix", fixed, latitude, longitude), of: place.name) {
                let speed = number(object["vel"]).map { $0 / 3.6 }
                // Below zero is unknown; the lowest land is at -430 m, and -1 with an unknown accuracy is no height.
                let isUnknown = number(object["alt"]) == -1 && (number(object["vac"]) ?? -1) < 0
                gathering.add(
                    place,
                    fixed,
                    [
                        Value(latitude), Value(longitude), isUnknown ? .missing : .number(number(object["alt"])),
                        .unlessNegative(number(object["acc"])), .unlessNegative(speed),
                        .unlessNegative(number(object["cog"])),
                    ]
                )
            }
        } else if object["lat"] != nil || object["lon"] != nil {
            gathering.reject(place.name, "a position that is none")
        }
        if let pressure = number(object["p"]), pressure > 0,
            gathering.isNew(RecentKeys.key(device, "pressure", sent, pressure))
        {
            gathering.add(naming.known("pressure"), sent, [Value(pressure * 10)])
        }
        if let level = number(object["batt"]), (0...100).contains(level),
            gathering.isNew(RecentKeys.key(device, "battery", sent, level))
        {
            let states = ["unknown", "unplugged", "charging", "full"]
            let state = object["bs"]?.int.flatMap { states.indices.contains($0) ? states[$0] : nil }
            gathering.add(naming.known("battery"), sent, [Value(level), .word(state)])
        }
    }

    private mutating func readTransition(_ object: JSON, _ device: String, into gathering: inout SampleGathering) {
        let stream = naming.known("geofence")
        guard let time = time(object["tst"]), let event = object["event"]?.string, ["enter", "leave"].contains(event)
        else { return gathering.reject(stream.name, "a transition without tst, or that is neither enter nor leave") }
        let made = self.time(object["wtst"]).map { "\($0.nanoseconds / 1_000_000_000)" }
        let region =
            object["desc"]?.string ?? made.flatMap { waypoints["\(device) \($0)"] } ?? object["rid"]?.string
            ?? made.map { "waypoint \($0)" } ?? "unknown"
        let key = "\(device) \(region)"
        if let known = regions[key], known.time < time, known.event == event {
            // Said again, such as after the phone has restarted.
            _ = gathering.isNew(RecentKeys.key(device, "region", region, known.time, event))
            regions[key] = Region(event: event, time: time)
            gathering.skip(stream.name)
            return
        }
        guard gathering.isNew(RecentKeys.key(device, "region", region, time, event), of: stream.name) else { return }
        if regions[key].map({ $0.time <= time }) ?? (regions.count < Self.mostKept) {
            regions[key] = Region(event: event, time: time)
        }
        gathering.add(stream, time, [.word(region), .text(event)])
    }

    private mutating func learn(_ object: JSON, _ device: String) {
        guard let made = time(object["tst"]), let name = object["desc"]?.string, waypoints.count < Self.mostKept else {
            return
        }
        waypoints["\(device) \(made.nanoseconds / 1_000_000_000)"] = name
    }

    private func readBeacon(_ object: JSON, _ device: String, into gathering: inout SampleGathering) {
        let stream = naming.known("beacon")
        guard let time = time(object["tst"]), let uuid = object["uuid"]?.string else {
            return gathering.reject(stream.name, "a beacon without tst or uuid")
        }
        let (major, minor) = (whole(object["major"]), whole(object["minor"]))
        guard gathering.isNew(RecentKeys.key(device, "beacon", time, uuid, major, minor), of: stream.name) else {
            return
        }
        let signal = number(object["rssi"]).flatMap { $0 < 0 ? $0 : nil }
        gathering.add(
            stream,
            time,
            [.word(uuid.lowercased()), .count(major), .count(minor), .number(signal)]
        )
    }

    private func readSteps(_ object: JSON, _ device: String, into gathering: inout SampleGathering) {
        let stream = naming.known("steps")
        guard let time = time(object["to"]) ?? time(object["tst"]), let steps = whole(object["steps"]) else {
            return gathering.reject(stream.name, "steps without a time or a number")
        }
        guard steps >= 0 else {
            return gathering.reject(stream.name, "steps -1: this phone counts none, or was not allowed to")
        }
        let from = self.time(object["from"])
        guard gathering.isNew(RecentKeys.key(device, "steps", time, from, steps), of: stream.name) else { return }
        let span = from.map { (time - $0).inSeconds } ?? 0
        gathering.add(
            stream,
            time,
            [
                .integer(steps), span > 0 ? Value(Double(steps) / span) : .missing,
                .unlessNegative(number(object["distance"])), .missing,
            ]
        )
        let (up, down) = (whole(object["floorsup"]), whole(object["floorsdown"]))
        if up.map({ $0 >= 0 }) ?? false || down.map({ $0 >= 0 }) ?? false {
            gathering.add(naming.known("floors"), time, [.count(up), .count(down)])
        }
    }

    // MARK: Asking for steps

    /// A command for the device, when it is time to ask it for its steps. Only iOS answers.
    private mutating func command(for device: String, _ json: JSON, _ message: PushMessage) -> String? {
        guard let stepsEvery, json["_type"]?.string == "location" else { return nil }
        let last = asked[device]
        if let last, last.at.duration(to: message.arrival) < stepsEvery { return nil }
        guard last != nil || asked.count < Self.mostKept else { return nil }
        // What was not answered is asked again, for at most a day; the phone keeps seven.
        let from = max(last?.until ?? message.wall - stepsEvery, message.wall - .seconds(86_400))
        asked[device] = (message.arrival, message.wall)
        let command: JSON = [
            "_type": "cmd", "action": "reportSteps", "from": JSON(Int(from.nanoseconds / 1_000_000_000)),
            "to": JSON(Int(message.wall.nanoseconds / 1_000_000_000)),
        ]
        return command.serialized()
    }

    // MARK: Values

    /// The device: by the headers, else by the topic, else by the two letters that the app shows.
    private func device(_ json: JSON, _ message: PushMessage) -> String {
        if let device = message.device { return "\(message.user ?? "")/\(device)" }
        let topic = message.topic.isEmpty ? json["topic"]?.string ?? "" : message.topic
        let parts = topic.split(separator: "/")
        if parts.count >= 3 { return "\(parts[1])/\(parts[2])" }
        return json["tid"]?.string ?? ""
    }

    /// A number, also one that comes as a text.
    private func number(_ json: JSON?) -> Double? {
        let number = json?.double ?? json?.string.flatMap { Double($0) }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    private func whole(_ json: JSON?) -> Int64? {
        json?.int64 ?? json?.string.flatMap { Int64($0) }
    }

    private func time(_ json: JSON?) -> Timestamp? {
        guard let seconds = number(json), seconds > 0, seconds < 9e9 else { return nil }
        return Timestamp(seconds: seconds)
    }
}
