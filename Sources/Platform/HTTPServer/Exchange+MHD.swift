internal import CMicroHTTPD
internal import Glibc

// Requests and responses as libmicrohttpd has them.

func requestHeaders(_ connection: OpaquePointer) -> HTTPHeaders {
    var headers = HTTPHeaders()
    withUnsafeMutablePointer(to: &headers) { target in
        _ = MHD_get_connection_values(
            connection,
            .HEADER_KIND,
            { context, _, name, value in
                guard let name, let headers = context?.assumingMemoryBound(to: HTTPHeaders.self) else { return .YES }
                headers.pointee.add(String(cString: name), value.map { String(cString: $0) } ?? "")
                return .YES
            },
            target
        )
    }
    return headers
}

func peer(_ connection: OpaquePointer) -> String? {
    let info = feedbridge_mhd_connection_info(connection, .CONNECTION_INFO_CLIENT_ADDRESS)
    guard let address = info?.pointee.client_addr else { return nil }
    return Address.text(of: address)
}

func bytesAnswer(_ bytes: [UInt8]) -> OpaquePointer? {
    bytes.withUnsafeBytes { buffer in
        // With `MUST_COPY` the library does not keep or change what it is given, whatever its type says.
        MHD_create_response_from_buffer(
            buffer.count,
            UnsafeMutableRawPointer(mutating: buffer.baseAddress),
            .RESPMEM_MUST_COPY
        )
    }
}

func emptyAnswer() -> OpaquePointer? {
    bytesAnswer([])
}

/// Nil when there is no regular file that can be read.
func fileAnswer(_ path: String) -> OpaquePointer? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        // The response owns the descriptor from here on.
        let answer = MHD_create_response_from_fd64(UInt64(status.st_size), descriptor)
    else {
        close(descriptor)
        return nil
    }
    return answer
}

func withHeaders(_ response: HTTPResponse, _ answer: OpaquePointer?) -> OpaquePointer? {
    guard let answer else { return nil }
    for (name, value) in response.headers {
        // The library refuses lengths and line breaks; the response goes out without such a header.
        _ = MHD_add_response_header(answer, name, value)
    }
    return answer
}
