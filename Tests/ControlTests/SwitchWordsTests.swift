import Control
import Testing

@Suite("The words of the switch")
struct SwitchWordsTests {
    @Test(
        "mean ON in every form that the service and its clients send",
        arguments: [
            "ON", "on", " On \n", "1", "true", "TRUE", "yes", "start", "\"ON\"", "'on'", "\"\\\"ON\\\"\"", "ON\0",
            #"{"value":"ON"}"#, #"{"value":1}"#, #"{"value":1.0}"#, #"{"value":true}"#, #"{"value":" on "}"#,
            #"{"id":"0F","value":"ON","lat":40.1,"lon":-3.2,"ele":null}"#, #"{"key":"k","last_value":"1"}"#,
            #"{"value":"\"ON\""}"#, "ON,,,", "ON,", "ON,40.1,-3.2,", "\"ON\",0.000000,0.000000,0.000000", "1,40.1,-3.2",
            "\"ON\",,,",
        ]
    )
    func on(text: String) {
        #expect(SwitchWords().meaning(of: text) == .on)
    }

    @Test(
        "mean OFF in every form",
        arguments: [
            "OFF", "off\r\n", "0", "False", "no", "STOP", "\"0\"", #"{"value":"OFF"}"#, #"{"value":0}"#, "OFF,,,",
        ]
    )
    func off(text: String) {
        #expect(SwitchWords().meaning(of: text) == .off)
    }

    @Test(
        "mean nothing when they are others",
        arguments: [
            "", " ", "banana", "2", "onn", "o n", "{}", "{", #"{"value":null}"#, #"{"value":{"value":"ON"}}"#,
            #"{"value":["ON"]}"#, "ON,yes", "ON,1,2,3,4", "\"ON", "\"ON\"x", "[\"ON\"]", ",,,", "\"\"\"\"", "null",
            #"{"switch":"ON"}"#, "ON OFF", String(repeating: "\"", count: 4000), String(repeating: "{", count: 4000),
        ]
    )
    func nothing(text: String) {
        #expect(SwitchWords().meaning(of: text) == nil)
    }

    @Test("may be the user's own, which are then what the bridge writes, letter by letter")
    func ownWords() throws {
        let words = try SwitchWords(on: ["An", "los, jetzt"], off: ["Aus"])

        #expect(words.meaning(of: "AN") == .on)
        #expect(words.meaning(of: "Los, jetzt") == .on)
        #expect(words.meaning(of: #"{"value":"aus"}"#) == .off)
        #expect(words.meaning(of: "ON") == .on)
        #expect(words.written(.on) == "An")
        #expect(words.written(.off) == "Aus")
        #expect(SwitchWords().written(.on) == "ON")
        #expect(SwitchWords().written(.off) == "OFF")
    }

    @Test("may not mean both")
    func both() {
        #expect(throws: SwitchWords.Problem.meansBoth("Aus")) { try SwitchWords(on: ["aus"], off: ["Aus"]) }
        #expect(throws: SwitchWords.Problem.meansBoth("on")) { try SwitchWords(on: [], off: ["on"]) }
        #expect(throws: SwitchWords.Problem.empty) { try SwitchWords(on: [" "], off: []) }
    }
}
