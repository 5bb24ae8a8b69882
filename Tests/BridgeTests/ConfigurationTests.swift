import Control
import DataPoints
import Diagnostics
import Feeds
import Glibc
import IIOSamplers
import Outbox
import Samples
import TestKit
import Testing

@testable import Bridge

@Suite("Configuration")
struct ConfigurationTests {
    private static let account = """
        [account]
        username = "ada"

        """

    private func problems(_ text: String) -> [String] {
        do {
            _ = try Configuration(parsing: text, file: "feedbridge.toml")
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test("the smallest configuration is an account's name; everything else has a default")
    func smallest() throws {
        let configuration = try Configuration(parsing: Self.account, file: "feedbridge.toml")

        #expect(configuration.name == "feedbridge")
        #expect(configuration.account.mqtt.description == "mqtts://io.adafruit.com:8883")
        #expect(configuration.account.rest.description == "https://io.adafruit.com:443")
        #expect(configuration.account.plan == .auto)
        #expect(configuration.control.feed.text == "recording")
        #expect(configuration.control.onStart == .follow)
        #expect(configuration.recorder.longestSession == .seconds(86_400))
        #expect(configuration.http.listen == nil)
    }

    @Test("reads every key of Industrial I/O and of pictures, and tells what is wrong with them")
    func sensors() throws {
        let text =
            Self.account + """
                [[sampler]]
                kind = "iio"
                device = "bmi323"
                channels = ["accel", "anglvel"]
                suffix = "lid"
                mode = "batch"
                every = "10 ms"
                rate = 104
                batch = "30 s"
                trigger = "hr"
                factor = -0.5
                near_level = 100
                mount_matrix = "0, 1, 0; -1, 0, 0; 0, 0, 1"
                root = "/mnt"

                [[sampler]]
                kind = "image"
                path = "/var/lib/camera"
                every = "5 s"
                """
        var iio = IIOConfiguration()
        iio.device = "bmi323"
        iio.channels = ["accel", "anglvel"]
        iio.suffix = "lid"
        iio.mode = .batch
        iio.every = .milliseconds(10)
        iio.rate = 104
        iio.batch = .seconds(30)
        iio.trigger = "hr"
        iio.factor = -0.5
        iio.nearLevel = 100
        iio.mountMatrix = "0, 1, 0; -1, 0, 0; 0, 0, 1"
        iio.root = "/mnt"

        let configuration = try Configuration(parsing: text, file: "feedbridge.toml")

        #expect(configuration.samplers.map(\.kind).first == .iio(iio))
        #expect(configuration.samplers.map(\.askedHertz) == [nil, nil])
        for (key, wrong) in [
            ("mount_matrix", "\"0, 1, 0; 0, 1, 0; 0, 0, 1\""), ("factor", "0"), ("rate", "-1"), ("mode", "\"fast\""),
            ("suffix", "\"a b\""), ("device", "\"\""), ("devise", "\"x\""),
        ] {
            let found = problems(Self.account + "[[sampler]]\nkind = \"iio\"\n\(key) = \(wrong)\n")
            #expect(found.count == 1 && found[0].contains(key), "\(key): \(found)")
        }
        #expect(problems(Self.account + "[[sampler]]\nkind = \"image\"\n").count == 1)
    }

    @Test("reads samplers and rules of every form")
    func reads() throws {
        let text =
            Self.account + """
                plan = 60
                mqtt = "mqtt://127.0.0.1:1883"

                [[sampler]]
                kind = "host"
                every = "500 ms"
                always = true

                [[sampler]]
                kind = "replay"
                stream = "accelerometer"
                file = "walk.csv"
                speed = 2

                [[rule]]
                stream = "host.load"
                field = "one_minute"
                feed = "load"
                reduce = "mean"
                every = "10 s"
                dead_band = 0.01

                [[rule]]
                feed = "motion"
                every = "1 min"
                fields = ["accelerometer.x", "host.load.one_minute"]
                """
        let configuration = try Configuration(parsing: text, file: "feedbridge.toml")

        #expect(configuration.account.plan == .pointsPerMinute(60))
        #expect(configuration.samplers.map(\.kind).first == .host(every: .milliseconds(500)))
        #expect(configuration.samplers.map(\.always) == [true, false])
        #expect(configuration.rules.map(\.rule.every) == [.seconds(10), .seconds(60)])
        let composite = try #require(configuration.rules.last).rule.fields
        #expect(composite.map(\.stream.text) == ["accelerometer", "host.load"])
        #expect(composite.map(\.field.text) == ["x", "one_minute"])
    }

    @Test(
        "one clear sentence with place and remedy for each mistake",
        arguments: [
            ("usrname = \"ada\"\n", "feedbridge.toml:1:1: unknown key \"usrname\""),
            ("name = 3\n", "feedbridge.toml:1:8: name must be a text in quotes, not"),
            ("[swich]\nfeed = \"a\"\n", "did you mean \"switch\"?"),
            ("[switch]\nfeed = \"My Feed\"\n", "feed \"My Feed\" is no key of an Adafruit IO feed"),
            ("[switch]\non_start = \"maybe\"\n", "on_start must be one of \"follow\", \"on\", \"off\", not \"maybe\""),
            ("[recorder]\nlongest_session = \"5 parsecs\"\n", "longest_session must be a duration such as"),
            ("[recorder]\nsmallest_free = \"5\"\n", "smallest_free must be a size such as"),
            ("[http]\nlisten = \"everywhere\"\n", "listen must be an address and a port"),
            ("[[sampler]]\nkind = \"hots\"\n", "did you mean \"host\"?"),
            ("[[sampler]]\nevery = \"2 s\"\n", "kind is missing"),
            ("[[sampler]]\nkind = \"replay\"\n", "file is missing"),
            ("[[rule]]\nstream = \"a\"\nfield = \"b\"\nfeed = \"c\"\n", "every is missing"),
            ("[[rule]]\nfeed = \"c\"\nevery = \"1 s\"\n", "a rule needs stream and field, or fields"),
            ("[[rule]]\nstream = \"a\"\nfeed = \"c\"\nevery = \"1 s\"\nfields = [\"a.b\"]\n", "not both"),
            ("[[rule]]\nfeed = \"c\"\nevery = \"1 s\"\nfields = [\"a\"]\n", "fields must be a list such as"),
            (
                "[[rule]]\nstream = \"a\"\nfield = \"b\"\nfeed = \"recording\"\nevery = \"1 s\"\n",
                "belongs to the [switch]"
            ),
            ("[outbox]\nmax_bytes = \"1 kB\"\n", "max_bytes must be at least \"1 MB\""),
            (
                "[outbox]\nwhen_full = \"panic\"\n",
                "when_full must be one of \"thin\", \"drop-oldest\", \"drop-newest\""
            ),
            ("[outbox]\nmax_ages = \"1 d\"\n", "did you mean \"max_age\"?"),
            ("x = [1,\n", "feedbridge.toml:"),
        ]
    )
    func mistakes(text: String, expected: String) {
        let found = problems(text.hasPrefix("x") ? text : text + "\n" + Self.account)

        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    @Test("reads how points are delivered and kept, and refuses parts that are none")
    func delivery() throws {
        let text =
            Self.account
            + "share = 0.5\nlive_within = \"3 s\"\n[outbox]\nmax_bytes = \"10 MB\"\nwhen_full = \"drop-oldest\"\n"
        let configuration = try Configuration(parsing: text, file: "feedbridge.toml")

        #expect(configuration.account.delivery.share == 0.5)
        #expect(configuration.account.delivery.liveWithin == .seconds(3))
        #expect(configuration.account.delivery.backlogShare == 0.2)
        #expect(configuration.outbox.maxBytes == 10_000_000)
        #expect(configuration.outbox.whenFull == .dropOldest)
        #expect(
            problems(Self.account + "share = 1.5\n").contains { $0.contains("share must be above 0 and at most 1") }
        )
    }

    @Test("two rules for one feed are refused, with the place of the second")
    func twoRules() {
        let rule = "[[rule]]\nstream = \"a\"\nfield = \"b\"\nfeed = \"c\"\nevery = \"1 s\"\n"

        let found = problems(Self.account + rule + rule)

        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix("feedbridge.toml:11:8: rule 2 publishes to feed \"c\", and so does rule 1.") == true
        )
    }

    @Test("an unencrypted service beyond this machine is refused unless that is said")
    func plaintext() throws {
        let text = Self.account + "mqtt = \"mqtt://192.168.1.5\"\n"

        #expect(problems(text).contains { $0.contains("would send the key unencrypted") })
        #expect(problems(text + "insecure_plaintext = true\n").isEmpty)
    }

    @Test("all mistakes are told at once")
    func allAtOnce() {
        #expect(problems("nam = \"x\"\n[account]\nuser = \"x\"\n").count == 3)
    }

    @Test("a configuration that others can write is refused, and so is a key that others can read")
    func permissions() throws {
        let folder = TemporaryDirectory()
        let path = try folder.write(Self.account, to: "feedbridge.toml")
        let key = try folder.write("aio_hidden\n", to: "key")
        chmod(path, 0o666)
        chmod(key, 0o644)

        #expect(throws: ConfigurationError.self) { try ConfigurationFile.load(path) }
        chmod(path, 0o644)
        var configuration = try ConfigurationFile.load(path)
        configuration.account.keyFile = key
        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationFile.key(for: configuration, environment: [:])
        }
        #expect(error?.description.contains("chmod 600") == true)
        #expect(error?.description.contains("hidden") == false)
        chmod(key, 0o600)
        #expect(try ConfigurationFile.key(for: configuration, environment: [:])?.reveal() == "aio_hidden")
    }

    @Test("the key comes from the file, else from systemd, else from the environment")
    func keySources() throws {
        let folder = TemporaryDirectory()
        try folder.write("from-systemd", to: "aio-key")
        let configuration = try Configuration(parsing: Self.account, file: "feedbridge.toml")
        let both = ["CREDENTIALS_DIRECTORY": folder.path, "ADAFRUIT_IO_KEY": "from-environment"]

        #expect(try ConfigurationFile.key(for: configuration, environment: both)?.reveal() == "from-systemd")
        #expect(
            try ConfigurationFile.key(for: configuration, environment: ["ADAFRUIT_IO_KEY": "x"])?.reveal() == "x"
        )
        #expect(throws: ConfigurationError.self) { try ConfigurationFile.key(for: configuration, environment: [:]) }
    }

    @Test("without a configuration it says how to make one")
    func none() {
        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationFile.find(nil, environment: ["XDG_CONFIG_HOME": "/nonexistent"])
        }
        #expect(error?.description.contains("feedbridge init") == true)
    }
}

@Suite("Quantity")
struct QuantityTests {
    @Test(
        "durations as people write them",
        arguments: [
            ("250 ms", 250), ("2 s", 2000), ("5min", 300_000), ("24 h", 86_400_000), ("29 d", 2_505_600_000),
            ("0.5 s", 500),
        ]
    )
    func durations(text: String, milliseconds: Int) {
        #expect(Quantity.duration(text) == .milliseconds(milliseconds))
    }

    @Test(
        "sizes as people write them",
        arguments: [("500 MB", 500_000_000), ("1 KiB", 1024), ("1.5 GB", 1_500_000_000)]
    )
    func sizes(text: String, bytes: Int) {
        #expect(Quantity.bytes(text) == bytes)
    }

    @Test(
        "what is no quantity is none",
        arguments: ["", "5", "s", "-5 s", "5 fortnights", "1e999 s", "nan s", "inf h"]
    )
    func nothing(text: String) {
        #expect(Quantity.duration(text) == nil)
        #expect(Quantity.bytes(text) == nil)
    }

    @Test("prints the largest unit that needs no fraction")
    func prints() {
        #expect(Quantity.text(.seconds(86_400 * 29)) == "29 d")
        #expect(Quantity.text(.seconds(90)) == "90 s")
        #expect(Quantity.text(.milliseconds(250)) == "250 ms")
    }
}
