import Diagnostics
import Foundation
import PhoneSamplers
import Samples
import Simulator
import TestKit
import Testing

@testable import Bridge

@Suite("Phones and devices in the configuration") struct PhoneConfigurationTests {
    private let account = "[account]\nusername = \"ada\"\n"
    private let http = "[http]\nlisten = \"127.0.0.1:8377\"\n"
    private let broker = "[broker]\nurl = \"mqtt://localhost:1883\"\n"

    private func problems(_ text: String) -> [String] {
        do {
            let configuration = try Configuration(parsing: account + text, file: "f")
            _ = try SamplerFactory.make(configuration, time: SystemTime())
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    private func push(_ text: String) throws -> PushConfiguration {
        let configuration = try Configuration(parsing: account + http + broker + text, file: "f")
        guard case .push(let push)? = configuration.samplers.first?.kind else {
            throw CommandError("no such sampler")
        }
        return push
    }

    @Test("each kind has its settings and defaults")
    func kinds() throws {
        #expect(
            try push("[[sampler]]\nkind = \"sensor-logger\"")
                == PushConfiguration(.sensorLogger(.auto, .auto), whenOff: .keep)
        )
        #expect(
            try push(
                "[[sampler]]\nkind = \"sensor-logger\"\nname = \"lid\"\nplatform = \"ios\"\nstandardised = \"on\"\nwhen_off = \"refuse\"\ntopic = \"sensor-logger\""
            )
                == PushConfiguration(
                    .sensorLogger(.ios, .on),
                    name: Name("lid"),
                    whenOff: .refuse,
                    topics: ["sensor-logger"]
                )
        )
        #expect(
            try push("[[sampler]]\nkind = \"owntracks\"\nsteps_every = \"15 min\"")
                == PushConfiguration(.ownTracks(stepsEvery: .seconds(900), secretFile: nil))
        )
        #expect(
            try push("[[sampler]]\nkind = \"mqtt\"\npreset = \"zigbee2mqtt\"").topics == ["zigbee2mqtt/#"]
        )
        let json = try push(
            "[[sampler]]\nkind = \"json\"\nname = \"w\"\ntime = \"/when\"\nmap = { \"/a/b\" = \"temperature.value\", c = { field = \"co2\", unit = \"ppm\" } }"
        )
        let entries = [
            JSONMapping.Entry("/a/b", stream: Name("temperature"), field: Name(mapping: "value")),
            JSONMapping.Entry("c", field: Name(mapping: "co2"), unit: Unit(rawValue: "ppm")),
        ]
        #expect(json == PushConfiguration(.json(JSONMapping(entries: entries, time: "/when")), name: Name("w")))
    }

    @Test(
        "what cannot work is told with its place and the way out",
        arguments: [
            (
                "[[sampler]]\nkind = \"overland\"\n",
                "f:3:1: kind = \"overland\" needs a place to post to: add [http] listen"
            ),
            (
                "[[sampler]]\nkind = \"mqtt\"\ntopic = \"a\"\n",
                "f:3:1: a topic needs the local broker: add [broker] url"
            ),
            ("[broker]\nurl = \"mqtt://x\"\n[[sampler]]\nkind = \"mqtt\"\n", "topic is missing"),
            (
                "[broker]\nurl = \"mqtt://x\"\n[[sampler]]\nkind = \"mqtt\"\ntopic = \"a/#/b\"\n",
                "topic must be a topic of MQTT"
            ),
            ("[broker]\nurl = \"http://x\"\n", "url must be like \"mqtt://localhost:1883\""),
            ("[broker]\n", "[broker] url is missing"),
            ("[[sampler]]\nkind = \"sensor-logger\"\nplatform = \"apple\"\n", "platform must be one of"),
            ("[[sampler]]\nkind = \"json\"\nmap = { a = 5 }\n", "map says what becomes of a member"),
            ("[[sampler]]\nkind = \"json\"\nmap = { a = \"No Name\" }\n", "map says what becomes of a member"),
            ("[[sampler]]\nkind = \"overlnd\"\n", "did you mean \"overland\"?"),
            ("[[sampler]]\nkind = \"phyphox\"\nurl = \"phone\"\n", "url must be what phyphox shows"),
            ("[[forward]]\nfeed = \"lamp\"\ntopic = \"a\"\n", "[[forward]] needs the local broker"),
            ("[[forward]]\nfeed = \"lamp\"\ntopic = \"a/+\"\n", "topic must be the topic where the device listens"),
            ("[[forward]]\nfeed = \"lamp\"\ntopic = \"a\"\ntemplate = \"x\"\n", "template must hold {value}"),
            ("[[forward]]\nfeed = \"recording\"\ntopic = \"a\"\n", "belongs to the [switch]"),
        ]
    )
    func problem(_ text: String, _ expected: String) {
        let found = problems(text)
        #expect(found.contains { $0.contains(expected) }, "\(found)")
    }

    @Test("two of a kind need a name, and apps may speak of one phone")
    func addresses() {
        let one = "[[sampler]]\nkind = \"overland\"\n"
        let other = "[[sampler]]\nkind = \"sensor-logger\"\n"

        #expect(problems(http + one + one).first?.contains("the same address") == true)
        #expect(problems(http + one + one + "name = \"ada\"\n").isEmpty)
        #expect(problems(http + one + other).isEmpty)
    }

    @Test("a loop through a device's own topic is refused, and a way back to where it listens is not")
    func loops() {
        let rule = "[[rule]]\nstream = \"zigbee2mqtt.lamp\"\nfield = \"state\"\nfeed = \"lamp\"\nevery = \"1 s\"\n"
        let any = "[[sampler]]\nkind = \"mqtt\"\ntopic = \"zigbee2mqtt/+\"\n"
        let preset = "[[sampler]]\nkind = \"mqtt\"\npreset = \"zigbee2mqtt\"\n"
        func forward(_ topic: String) -> String { "[[forward]]\nfeed = \"lamp\"\ntopic = \"\(topic)\"\n" }

        #expect(problems(broker + any + rule + forward("zigbee2mqtt/lamp")).first?.contains("a loop") == true)
        #expect(problems(broker + any + rule + forward("zigbee2mqtt/lamp/set")).isEmpty)
        #expect(problems(broker + preset + rule + forward("zigbee2mqtt/lamp/set")).isEmpty)
        #expect(problems(broker + preset + rule + forward("zigbee2mqtt/lamp")).first?.contains("a loop") == true)
        #expect(problems(broker + any + forward("zigbee2mqtt/lamp")).isEmpty)
    }

    @Test("the token is made once, kept from others, and one that others can read is refused")
    func token() throws {
        let folder = TemporaryDirectory()
        let configuration = try Configuration(
            parsing: "state = \"\(folder.path)\"\n" + account,
            file: folder.file("feedbridge.toml")
        )
        let directory = try StateDirectory(configuration, environment: [:])

        let token = try HTTPToken.load(configuration, directory, environment: [:])
        #expect(token.reveal().count == 24)
        #expect(try HTTPToken.load(configuration, directory, environment: [:]) == token)
        var status = stat()
        #expect(stat(folder.file("http-token"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)

        chmod(folder.file("http-token"), 0o644)
        #expect(throws: ConfigurationError.self) {
            try HTTPToken.load(configuration, directory, environment: [:])
        }
        var named = configuration
        named.http.tokenFile = try folder.write("too few", to: "token")
        chmod(folder.file("token"), 0o600)
        #expect(throws: ConfigurationError.self) { try HTTPToken.load(named, directory, environment: [:]) }
    }

    @Test("phone prints address, token and a code that another program reads", .timeLimit(.minutes(1)))
    func phoneCommand() async throws {
        let io = try SimulatedIO()
        let output = Talk()
        let context = try io.context(
            "[http]\nlisten = \"0.0.0.0:8377\"\n[[sampler]]\nkind = \"owntracks\"\nname = \"ada\"\n[[sampler]]\nkind = \"sensor-logger\"\n",
            output
        )

        try await PhoneCommand(app: "owntracks", name: "ada", host: "192.0.2.7").run(context)
        let token = try io.folder.read("state/http-token").trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(output.text.contains("http://192.0.2.7:8377/in/owntracks/ada\n"))
        #expect(output.text.contains("Password             \(token)"))
        #expect(output.text.contains("\u{2588}"))

        try await PhoneCommand(app: "sensor-logger", name: nil, host: nil).run(context)
        #expect(output.text.contains(":8377/in/sensor-logger\n"))
        #expect(output.text.contains("Bearer \(token)"))
        await #expect(throws: CommandError.self) {
            try await PhoneCommand(app: "overland", name: nil, host: nil).run(context)
        }
        await io.simulator.stop()
    }

    @Test("OwnTracks' link holds the settings")
    func link() throws {
        let link = PhoneCommand.ownTracksLink("http://h/in/owntracks", "pass word")

        let inline = try #require(link.split(separator: "=", maxSplits: 1).last?.removingPercentEncoding)
        let json = try #require(Data(base64Encoded: inline))
        let settings = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(link.hasPrefix("owntracks:///config?inline="))
        #expect(settings["url"] as? String == "http://h/in/owntracks")
        #expect(settings["password"] as? String == "pass word")
        #expect(settings["mode"] as? Int == 3)
    }
}
