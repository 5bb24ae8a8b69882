internal import Samples

extension Value {
    /// The value as one of `kind`; missing when it is another thing.
    func fitting(_ kind: FieldKind) -> Value {
        switch (kind, self) {
        case (.real, .real), (.integer, .integer), (.text, .text), (.flag, .flag): self
        case (.real, .integer(let count)): .real(Double(count))
        case (.real, .flag(let flag)): .real(flag ? 1 : 0)
        case (.real, .text(let text)): .number(Double(text))
        case (.integer, .real(let number)): .count(Int64(exactly: number))
        case (.flag, .real(let number)): number == 0 ? .flag(false) : number == 1 ? .flag(true) : .missing
        case (.text, .real(let number)): .text("\(number)")
        case (.text, .flag(let flag)): .text(flag ? "true" : "false")
        default: .missing
        }
    }
}
