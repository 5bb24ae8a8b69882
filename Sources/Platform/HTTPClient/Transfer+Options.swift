internal import CCurl
internal import Diagnostics
internal import Glibc

// How a request is told to libcurl.
extension Transfer {
    /// Sets every option; throws when the request cannot be sent as it is.
    func prepare(_ configuration: HTTPClientConfiguration) throws(HTTPClientError) {
        let request = call.request
        try check(request)
        setPointer(CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
        setPointer(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(sentence))
        try set(CURLOPT_URL, request.url)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        // Without it libcurl would use SIGALRM for its time limits.
        try set(CURLOPT_NOSIGNAL, 1)
        // Without it a transfer that ends amid a name look-up waits for the resolver, up to half a minute.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        try set(CURLOPT_PIPEWAIT, 1)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_ACCEPT_ENCODING, "gzip")
        try set(CURLOPT_USERAGENT, configuration.userAgent)
        if let file = configuration.caFile { try set(CURLOPT_CAINFO, file) }
        if let path = configuration.unixSocket { try set(CURLOPT_UNIX_SOCKET_PATH, path) }
        switch configuration.proxy {
        case .none: try set(CURLOPT_PROXY, "")
        case .environment: break
        case .url(let url): try set(CURLOPT_PROXY, url)
        }
        try setLimits(configuration)
        try setMethod(request)
        try setHeaders(request)
        setCallbacks()
    }

    private func setLimits(_ configuration: HTTPClientConfiguration) throws(HTTPClientError) {
        let total = call.request.timeout ?? configuration.totalTimeout
        try set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.wholeMilliseconds)
        try set(CURLOPT_TIMEOUT_MS, total.wholeMilliseconds)
        try set(CURLOPT_LOW_SPEED_LIMIT, 1)
        try set(CURLOPT_LOW_SPEED_TIME, max(Int(configuration.stallTimeout.components.seconds), 1))
        check(feedbridge_curl_set_size(handle, CURLOPT_MAXFILESIZE_LARGE, configuration.largestResponse))
    }

    private func setMethod(_ request: HTTPClientRequest) throws(HTTPClientError) {
        let mayRepeat = request.method != "POST" && request.method != "PATCH"
        switch (request.method, request.body) {
        case ("GET", nil):
            try set(CURLOPT_HTTPGET, 1)
        case ("HEAD", _):
            try set(CURLOPT_NOBODY, 1)
        case (let method, nil) where mayRepeat:
            try set(CURLOPT_HTTPGET, 1)
            try set(CURLOPT_CUSTOMREQUEST, method)
        case (let method, let body):
            let body = body ?? []
            try set(CURLOPT_POST, 1)
            try set(CURLOPT_CUSTOMREQUEST, method)
            check(feedbridge_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, body.count))
            if mayRepeat {
                // libcurl has the body, so it can send it again when a kept connection was dead.
                body.withUnsafeBytes { bytes in
                    let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                    check(feedbridge_curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, start))
                }
            } else if body.isEmpty {
                // Nothing would keep libcurl from sending it again: no kept connection then.
                try set(CURLOPT_FRESH_CONNECT, 1)
            }
        // Else the body comes from the read callback, which cannot rewind: what was sent is not sent again.
        }
    }

    private func setHeaders(_ request: HTTPClientRequest) throws(HTTPClientError) {
        var lines = request.headers
        lines += request.secretHeaders.map { ($0, $1.reveal()) }
        for (name, value) in lines {
            guard name.isToken, !value.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) else {
                throw HTTPClientError(
                    .badRequest,
                    request: request.title,
                    detail: "the header \(name) has a line break"
                )
            }
            // libcurl's form of an empty value; with a colon it would remove the header.
            list = curl_slist_append(list, value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        // No waiting for a "100 Continue" that may never come, and no form's type for a body that has none.
        list = curl_slist_append(list, "Expect:")
        if !lines.contains(where: { $0.0.lowercased() == "content-type" }) {
            list = curl_slist_append(list, "Content-Type:")
        }
        setPointer(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(list))
    }

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        check(feedbridge_curl_set_callback(handle, CURLOPT_READFUNCTION, giveBody))
        check(feedbridge_curl_set_callback(handle, CURLOPT_HEADERFUNCTION, takeHeaderLine))
        check(feedbridge_curl_set_callback(handle, CURLOPT_WRITEFUNCTION, takeBodyPiece))
        check(feedbridge_curl_set_open_socket(handle, openSocket))
        setPointer(CURLOPT_READDATA, context)
        setPointer(CURLOPT_HEADERDATA, context)
        setPointer(CURLOPT_WRITEDATA, context)
    }

    /// A user and password in the address would end in logs, and libcurl would send them along.
    private func check(_ request: HTTPClientRequest) throws(HTTPClientError) {
        guard request.method.isToken else {
            throw HTTPClientError(.badRequest, request: request.title, detail: "the method is no word")
        }
        let url = curl_url()
        defer { curl_url_cleanup(url) }
        guard curl_url_set(url, CURLUPART_URL, request.url, 0) == CURLUE_OK else {
            throw HTTPClientError(.badRequest, request: request.title, detail: "that is no address")
        }
        var user: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, CURLUPART_USER, &user, 0) != CURLUE_OK else {
            curl_free(user)
            throw HTTPClientError(.badRequest, request: request.title, detail: "an address must not name a user")
        }
    }

    // MARK: Options by kind

    private func set(_ option: CURLoption, _ value: Int) throws(HTTPClientError) {
        try demand(feedbridge_curl_set_long(handle, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(HTTPClientError) {
        try demand(feedbridge_curl_set_text(handle, option, value))
    }

    private func setPointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
        check(feedbridge_curl_set_pointer(handle, option, value))
    }

    /// For options that cannot fail in a libcurl that can speak HTTP at all.
    private func check(_ code: CURLcode) {
        precondition(code == CURLE_OK, "libcurl refused an option of ours")
    }

    private func demand(_ code: CURLcode) throws(HTTPClientError) {
        guard code != CURLE_OK else { return }
        throw failure(code == CURLE_OUT_OF_MEMORY ? .internal : .badRequest, code)
    }
}

// libcurl's callbacks: they come from inside `curl_multi_perform`, so on the client's thread.

private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

/// As libcurl does it, but close-on-exec: a child process that holds a connection keeps the server from seeing its end.
private func openSocket(
    _ context: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address else { return -1 }
    let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return socket(address.pointee.family, kind, address.pointee.protocol)
}

private func giveBody(
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = transfer(context), let buffer else { return Int(CURL_READFUNC_ABORT) }
    return transfer.give(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
}

/// Anything but the number of bytes ends the transfer.
private func takeHeaderLine(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context)?.takeHeader(line) == true ? line.count : 0
}

/// Anything but the number of bytes ends the transfer.
private func takeBodyPiece(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    guard !piece.isEmpty else { return 0 }
    return transfer(context)?.takeBody(piece) == true ? piece.count : 0
}

extension Duration {
    /// Whole milliseconds, at least one: to libcurl zero means for ever.
    fileprivate var wholeMilliseconds: Int { Int(max(nanoseconds / 1_000_000, 1)) }
}

extension String {
    /// Whether it is what HTTP calls a token: the form of methods and of header names.
    fileprivate var isToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
