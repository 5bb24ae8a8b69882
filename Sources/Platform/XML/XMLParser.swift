// Thread rule: expat's parser has no lock and no thread of its own. An XMLParser is not Sendable, so it stays with its
// owner, and its callbacks come only from within `parse`.
internal import CExpat

/// What a document is told to, in its order. The text and the elements are valid only during the call.
public protocol XMLHandler: AnyObject {
    /// An element begins.
    func begin(_ element: XMLElement)
    /// An element ends.
    func end(_ name: XMLText)
    /// Characters between the tags; one text may come in several pieces.
    func characters(_ bytes: UnsafeBufferPointer<UInt8>)
}

extension XMLHandler {
    /// Ignores the characters: right for documents that have everything in attributes.
    public func characters(_ bytes: UnsafeBufferPointer<UInt8>) {}
}

/// A document read piece by piece, with memory that does not grow with it; the parser is libexpat.
///
/// Nothing outside the document is ever read: no external entities, no DTD. Entities that multiply are refused by expat.
public final class XMLParser {
    private let parser: XML_Parser
    private let relay: Relay

    /// What expat's callbacks get.
    private final class Relay {
        unowned let handler: any XMLHandler

        init(_ handler: any XMLHandler) {
            self.handler = handler
        }
    }

    /// Makes a parser that tells `handler`, which must live as long as the parser.
    ///
    /// - Parameter wantsCharacters: false spares the calls for text between tags.
    public init(_ handler: any XMLHandler, wantsCharacters: Bool = true) {
        guard let parser = XML_ParserCreate(nil) else { fatalError("out of memory") }
        self.parser = parser
        relay = Relay(handler)
        XML_SetUserData(parser, Unmanaged.passUnretained(relay).toOpaque())
        XML_SetElementHandler(
            parser,
            { context, name, list in
                guard let context, let name else { return }
                let relay = Unmanaged<Relay>.fromOpaque(context).takeUnretainedValue()
                relay.handler.begin(XMLElement(name: name, list: list))
            },
            { context, name in
                guard let context, let name else { return }
                Unmanaged<Relay>.fromOpaque(context).takeUnretainedValue().handler.end(XMLText(name))
            }
        )
        guard wantsCharacters else { return }
        XML_SetCharacterDataHandler(parser) { context, start, length in
            guard let context, let start, length > 0 else { return }
            let bytes = UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self)
            Unmanaged<Relay>.fromOpaque(context).takeUnretainedValue().handler
                .characters(UnsafeBufferPointer(start: bytes, count: Int(length)))
        }
    }

    deinit { XML_ParserFree(parser) }

    /// Reads the next bytes of the document; `isLast` when there are no more.
    ///
    /// After an error the parser is of no use any more.
    public func parse(_ bytes: UnsafeRawBufferPointer, isLast: Bool) throws(XMLError) {
        var rest = bytes
        repeat {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
            let start = piece.baseAddress.map { $0.assumingMemoryBound(to: CChar.self) }
            let status = XML_Parse(parser, start, Int32(piece.count), isLast && rest.isEmpty ? 1 : 0)
            guard status == XML_STATUS_OK else { throw problem() }
        } while !rest.isEmpty
    }

    private func problem() -> XMLError {
        XMLError(
            line: Int(XML_GetCurrentLineNumber(parser)),
            column: Int(XML_GetCurrentColumnNumber(parser)) + 1,
            reason: XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown"
        )
    }
}
