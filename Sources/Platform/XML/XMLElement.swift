/// The beginning of an element, with its attributes; valid only during the call that hands it over.
public struct XMLElement {
    /// The name as it stands in the document, prefix included.
    public let name: XMLText

    /// expat's list: name, value, name, value, ..., nil.
    private let list: UnsafeMutablePointer<UnsafePointer<CChar>?>?

    init(name: UnsafePointer<CChar>, list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
        self.name = XMLText(name)
        self.list = list
    }

    /// Calls `body` with the name and the value of each attribute, in the order of the document.
    @inline(__always)
    public func forEachAttribute(_ body: (_ name: XMLText, _ value: XMLText) -> Void) {
        guard var next = list else { return }
        while let name = next[0], let value = next[1] {
            body(XMLText(name), XMLText(value))
            next += 2
        }
    }

    /// The value of the attribute called `wanted`, or nil.
    public subscript(wanted: StaticString) -> XMLText? {
        guard var next = list else { return nil }
        while let name = next[0], let value = next[1] {
            if XMLText(name) == wanted { return XMLText(value) }
            next += 2
        }
        return nil
    }
}
