internal import Samples

extension DerivationSettings {
    /// The name of an input or output: that of the contract, with the suffix of the device that `device` names.
    func name(_ base: String) -> Name {
        Name(mapping: text("device").map { "\(base).\($0)" } ?? base)
    }

    /// The stream called `base` with the fields of the contract.
    func stream(_ base: String) -> Stream {
        let name = name(base)
        return Stream(name, fields: KnownStreams.fields(of: name) ?? [Field(Name(mapping: "value"))])
    }
}
