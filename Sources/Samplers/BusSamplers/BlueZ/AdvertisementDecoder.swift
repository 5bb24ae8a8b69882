internal import Diagnostics
internal import Samples
internal import SystemBus

/// From what a device advertises to samples. A value: it asks nobody and reads no clock.
struct AdvertisementDecoder {
    /// What an advertisement gave.
    struct Sighting {
        /// Whether it was an advertisement at all: something that is on the air now.
        var isAdvertisement = false
        /// The samples, each with its stream.
        var samples: [(stream: Stream, values: [Value])] = []
        /// What could not be used.
        var problem: (stream: Name, example: String)?
    }

    private let configuration: BluetoothConfiguration
    /// The newest payload of each thermometer, and when it was taken: one payload is repeated many times.
    private var newest: [String: (payload: [UInt8], at: BootInstant)] = [:]

    /// The same payload counts as a new measurement after so long: a value may stay the same.
    private static let repetition = Duration.seconds(30)

    init(_ configuration: BluetoothConfiguration) {
        self.configuration = configuration
    }

    /// Reads the properties of a device.
    mutating func sighting(_ device: [String: BusValue], now: BootInstant) -> Sighting {
        var sighting = Sighting()
        // bluetoothd takes the signal strength away when a device is not heard any more. 0 and 127 mean none.
        guard let strength = device["RSSI"]?.int, strength != 0, strength != 127 else { return sighting }
        sighting.isAdvertisement = true
        readBeacon(device, strength, &sighting)
        readThermometer(device, now, &sighting)
        return sighting
    }

    private func readBeacon(_ device: [String: BusValue], _ strength: Int, _ sighting: inout Sighting) {
        guard !configuration.beacons.isEmpty,
            let data = device["ManufacturerData"]?.entries?[.uint16(IBeaconAdvertisement.company)]?.bytes,
            let beacon = IBeaconAdvertisement(data), configuration.beacons.contains(where: { $0.matches(beacon) })
        else { return }
        let values: [Value] = [
            .text(beacon.uuid), .integer(Int64(beacon.major)), .integer(Int64(beacon.minor)), .real(Double(strength)),
            beacon.measuredPower.map { .real(Double($0)) } ?? .missing,
        ]
        sighting.samples.append((BluetoothStreams.beacon, values))
    }

    private mutating func readThermometer(_ device: [String: BusValue], _ now: BootInstant, _ sighting: inout Sighting)
    {
        guard let address = device["Address"]?.string?.uppercased(), let name = configuration.thermometers[address],
            let data = device["ServiceData"]?.named?[BlueZNames.bthome]?.bytes
        else { return }
        if let known = newest[address], known.payload == data, known.at.duration(to: now) < Self.repetition { return }
        newest[address] = (data, now)
        do {
            let packet = try BTHomePacket(data)
            for (object, kind, _) in BluetoothStreams.thermometer {
                guard let reading = packet.readings.first(where: { $0.object == object }) else { continue }
                sighting.samples.append((BluetoothStreams.stream(kind, of: name), [Value(reading.value)]))
            }
        } catch {
            let why =
                error == .encrypted ? "an encrypted packet; its key is not known here" : "a packet of another version"
            sighting.problem = (BluetoothStreams.stream("temperature", of: name).name, "\(address): \(why)")
        }
    }
}
