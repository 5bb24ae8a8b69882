internal import Compression
internal import Samples

/// What the columns of a file are: one is the time, the others are fields or skipped.
struct Layout: Sendable, Equatable {
    /// What a column is.
    enum Column: Sendable, Equatable {
        case time
        case field(Int)
        case skipped
    }

    /// How the time is written.
    enum TimeForm: Sendable, Equatable {
        case nanoseconds
        case milliseconds
        case seconds
        /// Nanoseconds when the first row has 16 digits or more before the point, else seconds.
        case byDigits
    }

    let columns: [Column]
    let time: TimeForm
    /// The header's names of the fields.
    let names: [Name]

    /// Reads a header; `place` says where it stands, for the sentence.
    init(header: UnsafeRawBufferPointer, place: String) throws(ReplayError) {
        func refuse(_ text: String) -> ReplayError { ReplayError(kind: .header, description: "\(place): \(text)") }
        let form = Layout.form
        var columns: [Column] = []
        var names: [Name] = []
        var times: [(name: String, form: TimeForm)] = []
        var cells = Cells(header)
        var areAllNumbers = true
        while let cell = cells.next() {
            if Decimal(cell.bytes) == nil { areAllNumbers = false }
            let text = cell.text
            if text.isEmpty || text == "-" {
                columns.append(.skipped)
            } else if let form = Layout.timeForm(text) {
                times.append((text, form))
                columns.append(.time)
            } else {
                let name = Name(mapping: text)
                if names.contains(name) { throw refuse("two columns are called \"\(name)\". Rename or remove one.") }
                columns.append(.field(names.count))
                names.append(name)
            }
        }
        if areAllNumbers { throw refuse("the file has no header. \(form)") }
        guard let time = times.first else { throw refuse("no column of the header is a time. \(form)") }
        guard times.count == 1 else {
            throw refuse("the columns \"\(time.name)\" and \"\(times[1].name)\" are both times. Remove one.")
        }
        guard !names.isEmpty else { throw refuse("the header names no field beside the time. \(form)") }
        guard names.count <= 64 else {
            throw refuse(
                "there are \(names.count) fields, and a stream has at most 64. Remove some, or call them \"-\"."
            )
        }
        self.columns = columns
        self.time = time.form
        self.names = names
    }

    /// What a header looks like.
    static let form =
        "The first line names the columns: time_ns (or time_ms, time_s, time), then the fields, such as x,y,z."

    private static func timeForm(_ name: String) -> TimeForm? {
        switch name.lowercased() {
        case "time_ns": .nanoseconds
        case "time_ms": .milliseconds
        case "time_s": .seconds
        case "time": .byDigits
        default: nil
        }
    }
}
