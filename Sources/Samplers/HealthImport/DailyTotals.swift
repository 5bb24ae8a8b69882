/// The sums of each day: of each source as the records come, in any order; merged as `IntervalMerge` finds them.
struct DailyTotals {
    private let calendar: any LocalDays
    private var places: [LocalDay: Int] = [:]
    private var days: [HealthDay] = []
    /// The place of the newest day: records of one day come in rows.
    private var newest = -1

    init(_ calendar: any LocalDays) {
        self.calendar = calendar
    }

    /// All days that have something, the earliest first.
    var sorted: [HealthDay] { days.sorted { $0.day < $1.day } }

    /// Adds a record to its source's day, or days.
    mutating func add(_ record: HealthRecord) {
        let quantity = record.quantity
        if quantity.isCumulative {
            add(record.value, from: record.start, to: record.end) { day, amount in
                day.bySource[record.source, default: HealthTotals()].add(amount, of: quantity)
            }
        } else {
            add(record.value, from: record.start, to: record.start) { day, amount in
                day.bySource[record.source, default: HealthTotals()].add(amount, of: quantity)
                day.merged.add(amount, of: quantity)
            }
        }
    }

    /// Adds what all sources together have between two moments.
    mutating func addMerged(_ amount: Double, of quantity: HealthQuantity, from start: Int64, to end: Int64) {
        add(amount, from: start, to: end) { day, part in day.merged.add(part, of: quantity) }
    }

    private mutating func add(
        _ amount: Double,
        from start: Int64,
        to end: Int64,
        _ body: (inout HealthDay, Double) -> Void
    ) {
        // An interval over midnight is split in proportion to time.
        var from = start
        while true {
            let span = find(from)
            guard span.upperBound < end else {
                body(&days[newest], from == start ? amount : amount * Double(end - from) / Double(end - start))
                return
            }
            body(&days[newest], amount * Double(span.upperBound - from) / Double(end - start))
            from = span.upperBound
        }
    }

    /// Makes the day of a moment the newest one, and gives its span.
    private mutating func find(_ moment: Int64) -> Range<Int64> {
        if newest >= 0, days[newest].start <= moment, moment < days[newest].end {
            return days[newest].start..<days[newest].end
        }
        let (day, span) = calendar.day(of: moment)
        if let place = places[day] {
            newest = place
        } else {
            newest = days.count
            places[day] = newest
            days.append(HealthDay(day: day, start: span.lowerBound, end: span.upperBound))
        }
        return days[newest].start..<days[newest].end
    }
}
