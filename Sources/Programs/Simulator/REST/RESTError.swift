internal import FastJSON
internal import HTTPServer

/// Why a request of the REST interface is refused, in the words of the service.
struct RESTError: Error, Sendable {
    var status: Int
    var error: JSON
    var headers: HTTPHeaders = [:]
    /// What is sent instead of JSON, as the service did in its first years.
    var plainText: String?

    /// One sentence.
    init(_ status: Int, _ sentence: String) {
        self.status = status
        error = .string(sentence)
    }

    /// Complaints about members of a record, which the service lists.
    init(complaints: [String]) {
        status = 422
        error = .array(complaints.map(JSON.string))
    }

    init(_ error: StoreError) {
        switch error {
        case .validation(let sentences): self.init(complaints: sentences)
        case .notFound: self = .notFound
        case .feedLimit, .groupLimit, .dashboardLimit: self.init(422, "request failed - \(error)")
        case .database: self.init(500, "internal error - \(error)")
        }
    }

    static let notFound = RESTError(
        404,
        "not found - API documentation can be found at https://io.adafruit.com/api/docs"
    )

    static let invalidAddress = RESTError(
        404,
        "not found - that is an invalid URL, please check the API documentation at https://io.adafruit.com/api/docs "
            + "to make sure your URL is correct"
    )

    static let keyRefused = RESTError(401, "authentication failed - the AIO key is missing or not of this account")

    var response: HTTPResponse {
        var response =
            plainText.map { HTTPResponse.text($0, status: status) }
            ?? .json(JSON.object(["error": error]).serialized(), status: status)
        for (name, value) in headers { response.headers.add(name, value) }
        return response
    }
}

/// Runs `body` and turns what the store says into what the REST interface answers.
func asREST<Result>(_ body: () throws(StoreError) -> Result) throws(RESTError) -> Result {
    do throws(StoreError) {
        return try body()
    } catch {
        throw RESTError(error)
    }
}
