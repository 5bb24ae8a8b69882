internal import Diagnostics
internal import Samples

/// One sample of `location`, as far as a derivation needs it.
struct LocationFix: Sendable, Hashable {
    /// Nanoseconds since 1970.
    var time: Int64
    var place: GeoPosition
    /// Metres above mean sea level.
    var altitude: Double?
    /// The radius in metres in which the source believes to be.
    var accuracy: Double?
    /// Metres a second, as the receiver measured it by the Doppler effect.
    var speed: Double?

    /// Seconds from `earlier` to here.
    func seconds(since earlier: LocationFix) -> Double {
        Double(time &- earlier.time) * 1e-9
    }
}

/// Where the fields of a `location` stream stand, and how a sample is read.
struct LocationReader: Sendable {
    /// What a sample says.
    enum Reading {
        /// A fix.
        case fix(LocationFix)
        /// A source that says that what follows does not belong to what came before: nothing at all is known.
        case pause
        /// No position on earth.
        case nothing
    }

    private let latitude: Int
    private let longitude: Int
    private let altitude: Int?
    private let accuracy: Int?
    private let speed: Int?

    /// Nil when the stream has no place.
    init?(_ stream: Stream) {
        func place(_ name: String) -> Int? { stream.fields.firstIndex { $0.name.text == name } }
        guard let latitude = place("lat"), let longitude = place("lon") else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        altitude = place("altitude")
        accuracy = place("accuracy")
        speed = place("speed")
    }

    /// Reads a sample.
    func read(_ batch: SampleBatch, _ row: Int) -> Reading {
        let first = batch.value(row: row, field: latitude)
        let second = batch.value(row: row, field: longitude)
        if first == .missing, second == .missing {
            return batch.sample(row).allSatisfy { $0 == .missing } ? .pause : .nothing
        }
        // 0, 0 is what receivers say that know nothing.
        guard let north = first.number, let east = second.number,
            let place = GeoPosition(latitude: north, longitude: east), !place.isNull
        else { return .nothing }
        func number(_ field: Int?, _ range: ClosedRange<Double>) -> Double? {
            guard let field, let number = batch.value(row: row, field: field).number, range.contains(number) else {
                return nil
            }
            return number
        }
        return .fix(
            LocationFix(
                time: batch.times[row].nanoseconds,
                place: place,
                altitude: number(altitude, -1_000...100_000),
                accuracy: number(accuracy, 0...1e7),
                speed: number(speed, 0...600)
            )
        )
    }
}
