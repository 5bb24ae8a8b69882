import Diagnostics
import Foundation
import SecretBox
import Testing

@Suite("Secret boxes") struct SecretBoxTests {
    /// Closed by libsodium 1.0.18 itself, called from Python, with the secret "open sesame" and the nonce 0, 1, 2 ... 23.
    private let box = Array(
        Data(
            base64Encoded:
                "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXDbswFC4MLMDBNrogN086sZFuaV9h2g1hyCnDDBTvbsQ2LWEPsk7xnbQtuAxeEIYk"
                + "n28i1/O6o2dnTQiEMr1YvlWCT1PJ5C0V+dVeSoGO4UQ1gJxD"
        ) ?? Data()
    )

    @Test("what libsodium has closed is opened")
    func opens() throws {
        let right = try #require(SecretBox(Secret("open sesame")))
        let opened = try #require(right.open(box))

        #expect(
            String(decoding: opened, as: UTF8.self)
                == #"{"_type":"location","lat":52.5,"lon":13.25,"tst":1767225500,"acc":7}"#
        )
    }

    @Test("with another secret, a changed byte or a missing end nothing is opened")
    func refuses() throws {
        let right = try #require(SecretBox(Secret("open sesame")))

        let wrong = try #require(SecretBox(Secret("open sesam")))
        #expect(wrong.open(box) == nil)
        for place in box.indices {
            var changed = box
            changed[place] ^= 1
            #expect(right.open(changed) == nil)
        }
        for end in box.indices { #expect(right.open(Array(box[..<end])) == nil) }
    }

    @Test("an empty text has a box, too; a secret that is empty or too long is none")
    func limits() {
        #expect(SecretBox(Secret("")) == nil)
        #expect(SecretBox(Secret(String(repeating: "x", count: 33))) == nil)
        #expect(SecretBox(Secret(String(repeating: "x", count: 32)))?.open([]) == nil)
    }
}
