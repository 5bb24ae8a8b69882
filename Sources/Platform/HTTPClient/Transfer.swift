internal import CCurl

/// One request on its way and what has come back. It belongs to the client's thread.
final class Transfer {
    let call: ClientCall
    let handle: UnsafeMutableRawPointer
    private let largestResponse: Int
    private var bodyOffset = 0
    private var headers: [(name: String, value: String)] = []
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var isTooLarge = false
    var list: UnsafeMutablePointer<curl_slist>?
    /// Where libcurl writes its sentence about a failure.
    let sentence: UnsafeMutablePointer<CChar>

    init(_ call: ClientCall, _ handle: UnsafeMutableRawPointer, largestResponse: Int) {
        self.call = call
        self.handle = handle
        self.largestResponse = largestResponse
        sentence = .allocate(capacity: Int(CURL_ERROR_SIZE))
        sentence.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// Frees what libcurl was lent; once, after the handle has left the multi handle.
    func release() {
        // A handle that waits must not write to memory that is gone.
        feedbridge_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, nil)
        feedbridge_curl_set_pointer(handle, CURLOPT_HTTPHEADER, nil)
        curl_slist_free_all(list)
        list = nil
        sentence.deallocate()
    }

    /// Whether any of the request has left this machine.
    var hasSent: Bool { feedbridge_curl_get_long(handle, CURLINFO_REQUEST_SIZE) > 0 }

    /// What a finished transfer comes to.
    func outcome(_ code: CURLcode) -> Result<HTTPClientResponse, HTTPClientError> {
        guard code == CURLE_OK, !isTooLarge else {
            return .failure(failure(isTooLarge ? .tooLarge : HTTPClientError.Reason(code), code))
        }
        let version = feedbridge_curl_get_long(handle, CURLINFO_HTTP_VERSION)
        return .success(
            HTTPClientResponse(
                status: feedbridge_curl_get_long(handle, CURLINFO_RESPONSE_CODE),
                headers: headers,
                body: body,
                version: version == Int(CURL_HTTP_VERSION_2_0) ? "2" : version == 1 ? "1.0" : "1.1"
            )
        )
    }

    func failure(_ reason: HTTPClientError.Reason, _ code: CURLcode) -> HTTPClientError {
        var detail = String(cString: sentence)
        if reason == .tooLarge {
            detail = "more than \(largestResponse) bytes"
        } else if detail.isEmpty {
            detail = String(cString: curl_easy_strerror(code))
        }
        return HTTPClientError(reason, request: call.request.title, detail: detail, mayHaveArrived: hasSent)
    }

    // MARK: What libcurl calls

    /// The next piece of the request's body; nil when libcurl asks for what was given already.
    func give(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        let body = call.request.body ?? []
        let count = min(buffer.count, body.count - bodyOffset)
        body.withUnsafeBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[bodyOffset..<bodyOffset + count]))
        }
        bodyOffset += count
        return count
    }

    /// A line of a response's head.
    func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= 256 << 10 else {
            isTooLarge = true
            return false
        }
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // A new head: what came before was an interim answer, or a proxy's.
            headers = []
        } else if let colon = line.firstIndex(of: ":") {
            headers.append((String(line[..<colon]), line[line.index(after: colon)...].trimmed))
        }
        return true
    }

    /// A piece of the response's body.
    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= largestResponse else {
            isTooLarge = true
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }
}

extension Substring {
    /// The text without spaces, tabs and line ends around it.
    fileprivate var trimmed: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
        let start = drop(while: isBlank)
        let end = start.lastIndex { !isBlank($0) }
        return end.map { String(start[...$0]) } ?? ""
    }
}
