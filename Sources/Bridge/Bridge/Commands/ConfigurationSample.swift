internal import IIOSamplers
internal import Samples

/// The commented configuration that `feedbridge init` writes: every key, its meaning and its default.
struct ConfigurationSample {
    /// The bridge's name.
    var name: String
    /// The account's name, if it is known.
    var username: String?
    /// The streams that were found on this machine.
    var streams: [Stream]
    /// The sensors of Industrial I/O that were found.
    var sensors: [IIODescription] = []

    /// The text of the file.
    var text: String {
        """
        # feedbridge: sensors of this machine to Adafruit IO. Lines that begin with # are comments; a key in a comment
        # shows its default. Durations are like "250 ms", "2 s", "5 min", "24 h", "29 d"; sizes like "500 MB".

        # The bridge's name: letters, digits and dashes. It is part of the MQTT client id.
        name = "\(name)"

        # The folder for recordings and state. Default: $STATE_DIRECTORY (systemd), else ~/.local/state/feedbridge.
        # state = "/var/lib/feedbridge"

        [account]
        # "adafruit-io", or "mqtt" for any broker: mqtt says where it is, username is for brokers with a log-in, and there
        # is no REST and no limit.
        # profile = "adafruit-io"

        # The name of your Adafruit IO account.
        username = "\(account)"

        # A file that holds the account's key and that nobody else can read (chmod 600). Without it the key comes from
        # systemd's credential aio-key, else from ADAFRUIT_IO_KEY in the environment.
        # key_file = "/etc/feedbridge/aio.key"

        # How many data points a minute the account has: "auto" asks the service; "free" is 30, "plus" is 60; or a number.
        plan = "auto"

        # Where the service is. Unencrypted mqtt:// and http:// are for simulators on this machine only, unless
        # insecure_plaintext is set to true.
        # mqtt = "mqtts://io.adafruit.com:8883"
        # rest = "https://io.adafruit.com"
        # insecure_plaintext = false

        # Certificate authorities to trust instead of the system's.
        # ca_file = "/path/ca.pem"

        # What part of the account's budget is this bridge's, when other devices use the account, too.
        # share = 1.0

        # MQTT down this long: REST takes over, and reads the switch every poll_every.
        # fallback_after = "30 s"
        # poll_every = "10 s"

        # A data point goes by MQTT while it is younger than live_within; older ones go by REST with their own time, and
        # get at least backlog_share of the budget. A point that was stored shows within settle.
        # live_within = "5 s"
        # backlog_share = 0.2
        # settle = "10 s"

        # Only for any broker: the topics of feeds, and how many data points may share a message.
        # topic = "{name}/{feed}"
        # points_per_message = 1

        [switch]
        # ON and OFF on this feed start and stop the recording; a dashboard's toggle writes them.
        feed = "recording"

        # The bridge says here what it does: "recording 12", "stopped", "error: ...".
        status_feed = "recording-status"

        # Only for any broker: their topics. The switch is a retained message there, and so is the status.
        # topic = "shed/switch"
        # status_topic = "shed/status"

        # What holds at start: "follow" keeps the last state until the feed has been read; or "on", "off".
        on_start = "follow"

        # Whether the toggle follows what is started and stopped here. false for a second bridge on the same feed.
        # write_back = true

        # Words beside ON/OFF, 1/0, true/false, yes/no and start/stop.
        # on_words = []
        # off_words = []

        [outbox]
        # Data points wait here, on the disk, until Adafruit IO has confirmed them. When it is full: "thin" drops every
        # second of the oldest ones, again and again; or "drop-oldest", "drop-newest".
        # max_bytes = "256 MB"
        # max_age = "29 d"
        # when_full = "thin"

        # "full" survives a power cut; "normal" writes less, and survives the end of the process only.
        # durability = "full"

        [recorder]
        # A session that lasts longer is ended.
        # longest_session = "24 h"

        # With less free space nothing is recorded.
        # smallest_free = "500 MB"

        [http]
        # Where GET /metrics (Prometheus) and GET /healthz answer, and where phones post to. Default: nowhere. Phones reach
        # "0.0.0.0:8377"; `feedbridge phone APP` prints what to type into the app.
        # listen = "127.0.0.1:8377"

        # A file with the token that phones must show, readable by nobody else. Default: http-token in the state folder,
        # made at the first start.
        # token_file = "/etc/feedbridge/http.token"

        # A certificate for HTTPS and its key, PEM files; without a key of its own the certificate's file holds both.
        # certificate = "/etc/feedbridge/cert.pem"
        # certificate_key = "/etc/feedbridge/cert.key"

        # Names under which clients reach this machine, beside its own. Others are refused, as are pages of the web.
        # names = ["greenhouse.example.org"]

        # The broker at home, for devices, for phones that speak MQTT, and for [[forward]].
        # [broker]
        # url = "mqtt://localhost:1883"
        # username = "feedbridge"
        # password_file = "/etc/feedbridge/broker.password"
        # ca_file = "/path/ca.pem"

        # Samplers read sensors. always = true keeps one running while the switch is off.
        [[sampler]]
        kind = "host"
        every = "2 s"
        always = true

        \(found.text)# Sensors of Linux Industrial I/O: one device, or all that there are.
        # [[sampler]]
        # kind = "iio"
        # device = "bmi323"         # its name, its label, or the end of its path; without: every device
        # channels = ["accel"]      # only these; with them a device that comes later is waited for
        # suffix = "lid"            # behind the streams' names: accelerometer.lid
        # mode = "poll"             # or "buffer": the kernel collects at the sensor's rate; "batch": the same, read seldom
        # every = "100 ms"          # poll: how often
        # rate = 104                # buffer, batch: the rate to set, in Hz
        # batch = "60 s"            # batch: how long samples are left in the sensor's memory
        # trigger = "feedbridge"    # what starts each scan; without: the device's own
        # factor = 1.0              # puts a wrong scale of the driver right
        # near_level = 100          # the number of a proximity sensor from which something is near
        # mount_matrix = "0, 1, 0; -1, 0, 0; 0, 0, 1"   # how the sensor is built in
        # root = "/"                # the folder that holds sys and dev

        # The light that a picture was taken in, of a file or of a folder's newest picture (JPEG with EXIF).
        # [[sampler]]
        # kind = "image"
        # path = "/var/lib/camera"
        # every = "2 s"
        # suffix = "door"

        # Bluetooth: a heart-rate strap ("any" or its address), iBeacons ("any", "UUID", "UUID MAJOR" or "UUID MAJOR MINOR")
        # and BTHome thermometers by their addresses.
        # [[sampler]]
        # kind = "bluetooth"
        # adapter = "hci0"
        # strap = "any"
        # beacons = ["any"]
        # thermometers = { "A4:C1:38:00:11:22" = "kitchen" }

        # What iio-sensor-proxy knows on tablets and laptops.
        # [[sampler]]
        # kind = "sensor-proxy"
        # sensors = ["compass"]     # "orientation", "light", "proximity", "compass"; without: all

        # A recording of another sensor can be replayed from a CSV file with a header, plain or gzip.
        # [[sampler]]
        # kind = "replay"
        # stream = "accelerometer"
        # file = "walk.csv"
        # speed = 1.0         # 2 is twice as fast; 0 is as fast as possible
        # keep_time = false   # false: shifted so that its first sample is now

        # Apps on phones. They send by themselves, so the switch does not stop them: when_off = "keep" stores what comes
        # while it is off for 7 days, "discard" throws it away, "refuse" makes the phone keep it. A name makes a second
        # phone of a kind: it posts to /in/sensor-logger/lid and its streams are accelerometer.lid ...
        # [[sampler]]
        # kind = "sensor-logger"
        # platform = "auto"       # "ios" or "android" where the app does not say; an iPhone's signs are the opposite
        # standardised = "auto"   # "on" when "Standardise Units & Frames" is on in the app, else "off"
        # when_off = "keep"

        # [[sampler]]
        # kind = "owntracks"
        # topic = "owntracks/#"
        # steps_every = "15 min"
        # secret_file = "/etc/feedbridge/owntracks.secret"   # the app's encryption key, if it has one
        # name = "ada"

        # [[sampler]]
        # kind = "overland"

        # phyphox, with remote access on: the address is what it shows. The switch starts and stops its experiment.
        # [[sampler]]
        # kind = "phyphox"
        # url = "http://192.168.1.20:8080"
        # every = "500 ms"

        # Anything else that can post JSON, to /in/json/weather. Without map all members become fields.
        # [[sampler]]
        # kind = "json"
        # name = "weather"
        # stream = "weather"
        # time = "/when"
        # map = { "/outside/t" = "temperature.value", "co2" = { field = "co2", unit = "ppm" } }

        # Any device on the broker at home; preset = "zigbee2mqtt", "tasmota" or "esphome" knows topics and payloads.
        # [[sampler]]
        # kind = "mqtt"
        # topic = ["zigbee2mqtt/#"]
        # preset = "zigbee2mqtt"

        # A control of the dashboard that reaches a device: each new value of the feed, as a state and not twice.
        # [[forward]]
        # feed = "lamp"
        # topic = "zigbee2mqtt/lamp/set"
        # template = '{"state":"{value}"}'
        # retain = false

        # Derivations compute streams from streams: steps, floors, attitude, shake, orientation, activity, altitude,
        # ambient_light, heart, run, geofence, beacons, vibration. always = true keeps their sources running while the switch
        # is off, and what they compute for 7 days. docs/derivations.md and docs/places.md tell their settings.
        # [[derivation]]
        # kind = "steps"
        # height = 1.75
        # always = true

        # A circle on the map: the stream geofence has its name as region, and "enter" or "leave" as event.
        # [[geofence]]
        # name = "home"
        # lat = 40.4168
        # lon = -3.7038
        # radius = 150

        # Alerts: a threshold (above, below, or outside of both), a word (equals), or a source that is missing. They publish
        # a text, write to the log, run a program (no shell; values in its environment), or record while they last
        # ("record"), "start" or "stop".
        # [[alert]]
        # name = "hot"
        # stream = "temperature"
        # field = "value"
        # above = 30
        # below = 5
        # hysteresis = 1
        # lasting = "10 s"
        # at_most_every = "5 min"
        # tell_end = true
        # feed = "warnings"
        # text = "{name} {state}: {value}"
        # log = true
        # run = ["/usr/local/bin/ring", "loud"]
        # run_limit = "10 s"
        # session = "record"
        # always = true

        # [[alert]]
        # name = "arrived"
        # stream = "geofence"
        # field = "event"
        # equals = "enter"
        # only = ["region", "home"]
        # log = true

        # [[alert]]
        # name = "silent"
        # stream = "temperature"
        # missing_for = "10 min"
        # log = true

        # Rules say what is published. Each reduces one field over a window to one data point of one feed:
        #   reduce = "last", "mean", "min", "max", "median", "rms", "stddev", "sum", "count" or "delta"
        #   dead_band = 0.01    publish only what differs by more than this
        #   on_change = true    publish only what differs at all
        #   precision = 2       digits after the point
        #   always = true       publish while the switch is off, too
        #   location = "location"   attach the newest position of that stream
        #   weight = 1.0        its part of a budget that is too small for all rules
        \(rules)
        # Several fields in one JSON value:
        # [[rule]]
        # feed = "machine"
        # every = "1 min"
        # fields = ["host.load.one_minute", "host.memory.available"]

        """
    }

    /// The account's name, unless it is none that could stand in the file.
    private var account: String {
        guard let username, !username.isEmpty, username.utf8.count <= 128,
            username.allSatisfy({ $0.isLetter || $0.isNumber || "_-.@".contains($0) })
        else { return "YOUR-ACCOUNT" }
        return username
    }

    /// Samplers for the sensors that were found, and the names of their streams: where a name is taken, with a suffix.
    private var found: (text: String, streams: [Stream]) {
        var used: Set<Name> = []
        var text = ""
        var streams: [Stream] = []
        for sensor in sensors {
            let isTaken = sensor.streams.contains { used.contains($0.name) }
            let named = sensor.streams.map { stream in
                isTaken ? Stream(Name(mapping: "\(stream.name).\(sensor.suffix)"), fields: stream.fields) : stream
            }
            guard used.isDisjoint(with: named.map(\.name)) else { continue }
            used.formUnion(named.map(\.name))
            streams += named
            let types = sensor.channels.map(quoted).joined(separator: ", ")
            text += """
                # Found here: \(named.map(\.name.text).joined(separator: ", ")).
                [[sampler]]
                kind = "iio"
                device = \(quoted(sensor.identifier))
                channels = [\(types)]\(isTaken ? "\nsuffix = \"\(sensor.suffix)\"" : "")
                every = "\(sensor.channels.contains("accel") ? "100 ms" : "1 s")"


                """
        }
        return (text, streams)
    }

    /// A text of the kernel as a text of TOML.
    private func quoted(_ text: String) -> String {
        let safe = text.map { character in
            character == "\"" || character == "\\" || (character.asciiValue ?? 32) < 32 ? "?" : String(character)
        }
        return "\"\(safe.joined())\""
    }

    private var rules: String {
        var rules: [String] = []
        let streams = streams + found.streams
        func add(_ stream: String, _ field: String, feed: String, reduce: String, every: String, precision: Int) {
            guard let stream = streams.first(where: { $0.name.text == stream }), let name = Name(field),
                stream.index(of: name) != nil
            else { return }
            rules.append(
                """
                [[rule]]
                stream = "\(stream.name)"
                field = "\(field)"
                feed = "\(feed)"
                reduce = "\(reduce)"
                every = "\(every)"
                precision = \(precision)
                always = true

                """
            )
        }
        add("host.cpu", "total", feed: "cpu", reduce: "mean", every: "15 s", precision: 1)
        add("host.load", "one_minute", feed: "load", reduce: "mean", every: "30 s", precision: 2)
        add("host.memory", "available", feed: "memory-available", reduce: "mean", every: "1 min", precision: 0)
        if let thermal = streams.first(where: { $0.name.text.hasPrefix("host.thermal.") }) {
            add(thermal.name.text, "temperature", feed: "temperature", reduce: "mean", every: "30 s", precision: 1)
        }
        add("temperature", "value", feed: "room-temperature", reduce: "mean", every: "30 s", precision: 1)
        add("humidity", "value", feed: "humidity", reduce: "mean", every: "30 s", precision: 0)
        add("pressure", "value", feed: "pressure", reduce: "mean", every: "1 min", precision: 1)
        add("light", "value", feed: "light", reduce: "mean", every: "30 s", precision: 0)
        add("steps", "count", feed: "steps", reduce: "last", every: "1 min", precision: 0)
        return rules.joined(separator: "\n")
    }
}
