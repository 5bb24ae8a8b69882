import Testing

@testable import IIOSamplers

@Suite("Scans of a buffer") struct ScanTests {
    @Test(
        "types are read as the kernel writes them",
        arguments: [
            ("le:s16/16>>0", 16, 16, 1, 0), ("be:s20/32>>4", 20, 32, 1, 4), ("le:u12/16>>4", 12, 16, 1, 4),
            ("le:S64/64>>0", 64, 64, 1, 0), ("le:s32/32X4>>0", 32, 32, 4, 0), ("le:u8/8", 8, 8, 1, 0),
            ("be:f32/32>>0", 32, 32, 1, 0),
        ]
    )
    func types(_ text: String, _ bits: Int, _ storage: Int, _ count: Int, _ shift: Int) throws {
        let type = try #require(ScanType(text))

        #expect(type.bits == bits && type.storageBits == storage && type.count == count && type.shift == shift)
    }

    @Test(
        "a type that cannot be is none",
        arguments: [
            "", "le", "le:", "le:s", "le:s16", "le:s16/", "le:s0/16>>0", "le:s17/16>>0", "le:s16/24>>0", "xe:s16/16>>0",
            "le:q16/16>>0", "le:s16/16>>16", "le:s16/16X0>>0", "le:s16/16X99>>0", "le:s16/16>>0x", "le:f16/32>>0",
            "le:s99999999999999999999/16>>0", "le:s-1/16>>0", "le:f8/8>>0", "le:s16/16X4294967296>>0",
        ]
    )
    func badTypes(_ text: String) {
        #expect(ScanType(text) == nil)
    }

    @Test(
        "bytes are put in order, shifted, masked and sign extended, in that order",
        arguments: [
            ("be:s20/32>>4", [0x00, 0xFE, 0xDD, 0xF0], -4641.0), ("be:s20/32>>4", [0xAB, 0x3E, 0xF8, 0xEF], 257934),
            ("le:s16/16>>0", [0x85, 0xFF], -123), ("be:s16/16>>0", [0x85, 0xFF], -31233),
            ("le:u16/16>>0", [0x85, 0xFF], 65413), ("le:u12/16>>4", [0x5F, 0xA1], 0xA15),
            ("le:s12/16>>4", [0x0F, 0x80], -2048), ("le:s8/16>>0", [0xFF, 0x7F], -1),
            ("le:s24/32>>8", [0x99, 0x00, 0x00, 0x80], -8_388_608), ("le:u8/8>>0", [200], 200),
            ("le:s64/64>>0", [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], -1),
            ("le:u64/64>>0", [0, 0, 0, 0, 0, 0, 0, 0x80], 9_223_372_036_854_775_808),
            ("be:f32/32>>0", [0x41, 0x1C, 0xF5, 0xC3], Double(Float(9.81))),
            ("le:f64/64>>0", [0, 0, 0, 0, 0, 0, 0xF8, 0xBF], -1.5), ("be:f16/16>>0", [0xC0, 0x80], -2.25),
            ("be:f16/16>>0", [0x00, 0x01], 0x1p-24), ("be:f16/16>>0", [0x7C, 0x00], .infinity),
        ] as [(String, [UInt8], Double)]
    )
    func decodes(_ text: String, _ bytes: [UInt8], _ expected: Double) throws {
        let type = try #require(ScanType(text))

        #expect(bytes.withUnsafeBytes { type.number($0, at: 0) } == expected)
    }

    private func layout(_ elements: (String, Int, String)...) throws -> ScanLayout {
        ScanLayout(
            try elements.map { base, index, type in
                (try #require(ChannelName(base: base)), index, try #require(ScanType(type)))
            }
        )
    }

    @Test("three 16-bit axes and a time: the time at 8, 16 bytes in all")
    func usual() throws {
        let layout = try layout(
            ("accel_x", 0, "le:s16/16>>0"),
            ("accel_y", 1, "le:s16/16>>0"),
            ("accel_z", 2, "le:s16/16>>0"),
            ("timestamp", 3, "le:s64/64>>0")
        )

        #expect(layout.elements.map(\.offset) == [0, 2, 4])
        #expect(layout.timestamp?.offset == 8)
        #expect(layout.size == 16)
    }

    @Test("elements lie by their index, never by their name")
    func byIndex() throws {
        let layout = try layout(
            ("accel_x", 1, "le:s16/16>>0"),
            ("accel_y", 0, "le:s16/16>>0"),
            ("accel_z", 2, "le:s16/16>>0")
        )

        #expect(layout.elements.map(\.channel.base) == ["accel_y", "accel_x", "accel_z"])
        #expect(layout.size == 6)
    }

    @Test("a wide element in front makes the scan a multiple of it, a wide one behind is aligned")
    func wide() throws {
        let front = try layout(("accel_x", 0, "be:s20/32>>4"), ("temp", 1, "be:u12/16>>0"))
        let behind = try layout(
            ("temp", 0, "le:u8/8>>0"),
            ("accel_x", 1, "be:s20/32>>4"),
            ("timestamp", 2, "le:s64/64>>0")
        )

        #expect(front.elements.map(\.offset) == [0, 4])
        #expect(front.size == 8)
        #expect(behind.elements.map(\.offset) == [0, 4])
        #expect(behind.timestamp?.offset == 8)
        #expect(behind.size == 16)
    }

    @Test("an element with repeats is aligned to all of them together")
    func repeats() throws {
        let rotation = try layout(("rot_quaternion", 0, "le:s32/32X4>>0"), ("timestamp", 1, "le:s64/64>>0"))
        let mixed = try layout(("temp", 0, "le:s16/16>>0"), ("rot_quaternion", 1, "le:s16/16X4>>0"))

        #expect(rotation.timestamp?.offset == 16)
        #expect(rotation.size == 32)
        #expect(mixed.elements.map(\.offset) == [0, 8])
        #expect(mixed.size == 16)
    }

    @Test("random types and bytes never trap, and a number fits its bits")
    func fuzz() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("lebsuf:/X>0123456789 ")
        for _ in 0..<20_000 {
            let garbage = String(
                (0..<Int.random(in: 0...14, using: &random)).map { _ in alphabet.randomElement() ?? "0" }
            )
            _ = ScanType(garbage)
            let storage = [8, 16, 32, 64].randomElement() ?? 8
            let text =
                "\(Bool.random() ? "le" : "be"):\(Bool.random() ? "s" : "u")\(Int.random(in: 1...storage))/\(storage)>>\(Int.random(in: 0..<storage))"
            let bytes = (0..<8).map { _ in UInt8.random(in: 0...255) }
            guard let type = ScanType(text) else {
                Issue.record("\(text) is a type")
                continue
            }
            let number = bytes.withUnsafeBytes { type.number($0, at: 0) }
            let most = Double(sign: .plus, exponent: type.bits, significand: 1)
            #expect(type.format == .unsigned ? (0...most).contains(number) : (-most / 2...most / 2).contains(number))
        }
    }
}
