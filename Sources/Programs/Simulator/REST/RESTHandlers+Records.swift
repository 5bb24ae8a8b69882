internal import FastJSON
internal import HTTPServer

extension RESTHandlers {
    private static let tokenDefaults: JSONObject = [
        "master": false, "createable": true, "readable": true, "updateable": true, "deleteable": true,
        "expiration": nil, "feed_id": nil, "qr_code": nil, "status": "active",
    ]
    private static let actionDefaults: JSONObject = [
        "feed_id": nil, "operator": nil, "value": nil, "action": nil, "action_feed_id": nil, "action_value": nil,
        "to_feed_id": nil, "trigger_type": nil, "enabled": true, "description": nil,
    ]
    private static let permissionDefaults: JSONObject = ["scope": "secret", "scope_value": nil, "mode": "r"]

    func listTokens() throws(RESTError) -> HTTPResponse { try list(.token, Self.tokenDefaults) }
    func showToken() throws(RESTError) -> HTTPResponse { try show(.token, Self.tokenDefaults) }
    func updateToken() throws(RESTError) -> HTTPResponse { try update(.token, Self.tokenDefaults, "token") }
    func deleteToken() throws(RESTError) -> HTTPResponse { try delete(.token) }

    /// A token that names a feed is that feed's web hook: `POST /api/v2/webhooks/feed/KEY`.
    func createToken() throws(RESTError) -> HTTPResponse {
        var members = try call.record("token")
        if let wanted = members.text("feed_id") ?? members.text("feed_key") {
            members["feed_id"] = JSON(Int(try feed(wanted).id))
        }
        let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789")
        let key = String((0..<28).compactMap { _ in letters.randomElement() })
        return try create(.token, members, Self.tokenDefaults, key: key)
    }

    func listActions() throws(RESTError) -> HTTPResponse { try list(.action, Self.actionDefaults) }
    func showAction() throws(RESTError) -> HTTPResponse { try show(.action, Self.actionDefaults) }
    func updateAction() throws(RESTError) -> HTTPResponse {
        try update(.action, Self.actionDefaults, "trigger", "action")
    }
    func deleteAction() throws(RESTError) -> HTTPResponse { try delete(.action) }
    func createAction() throws(RESTError) -> HTTPResponse {
        try create(.action, try call.record("trigger"), Self.actionDefaults)
    }

    func listPermissions() throws(RESTError) -> HTTPResponse { try list(.permission, Self.permissionDefaults) }
    func showPermission() throws(RESTError) -> HTTPResponse { try show(.permission, Self.permissionDefaults) }
    func deletePermission() throws(RESTError) -> HTTPResponse { try delete(.permission) }
    func updatePermission() throws(RESTError) -> HTTPResponse {
        try update(.permission, Self.permissionDefaults, "acl", "permission")
    }
    func createPermission() throws(RESTError) -> HTTPResponse {
        try create(.permission, try call.record("acl", "permission"), Self.permissionDefaults)
    }

    /// What the records of the address belong to: empty for those of the account.
    private var parent: String {
        call.parameters["kind"].map { "\($0)/\(call["owner"])" } ?? ""
    }

    private func list(_ kind: RecordKind, _ defaults: JSONObject) throws(RESTError) -> HTTPResponse {
        let records = try asREST { () throws(StoreError) in
            try store.records(account: account, kind, parent: parent)
        }
        return reply(.array(records.map { replies.record($0, defaults: defaults) }))
    }

    private func record(_ kind: RecordKind) throws(RESTError) -> StoredRecord {
        guard let id = Int64(call["id"]) else { throw .notFound }
        let found = try asREST { () throws(StoreError) in
            try store.record(account: account, kind, id: id, parent: parent)
        }
        guard let found else { throw .notFound }
        return found
    }

    private func show(_ kind: RecordKind, _ defaults: JSONObject) throws(RESTError) -> HTTPResponse {
        reply(replies.record(try record(kind), defaults: defaults))
    }

    private func create(
        _ kind: RecordKind,
        _ members: JSONObject,
        _ defaults: JSONObject,
        key: String? = nil
    ) throws(RESTError) -> HTTPResponse {
        if let owner = call.parameters["owner"] {
            switch call["kind"] {
            case "feeds": _ = try feed(owner)
            case "groups": _ = try group(owner)
            case "dashboards":
                let found = try asREST { () throws(StoreError) in
                    try store.dashboard(account: account, identifier: owner)
                }
                guard found != nil else { throw .notFound }
            default: throw .invalidAddress
            }
        }
        let body = JSONObject(members.filter { defaults.keys.contains($0.key) }.map { ($0.key, $0.value) })
        let record = try asREST { () throws(StoreError) in
            try store.createRecord(account: account, kind, parent: parent, key: key, body: body)
        }
        return reply(replies.record(record, defaults: defaults))
    }

    private func update(
        _ kind: RecordKind,
        _ defaults: JSONObject,
        _ wrappers: String...
    ) throws(RESTError) -> HTTPResponse {
        let record = try record(kind)
        guard let object = try call.body().object else {
            throw RESTError(400, "request failed - the body is no object")
        }
        let members = wrappers.lazy.compactMap { object[$0]?.object }.first ?? object
        let body = JSONObject(members.filter { defaults.keys.contains($0.key) }.map { ($0.key, $0.value) })
        let changed = try asREST { () throws(StoreError) in try store.update(record, body) }
        return reply(replies.record(changed, defaults: defaults))
    }

    private func delete(_ kind: RecordKind) throws(RESTError) -> HTTPResponse {
        let record = try record(kind)
        try asREST { () throws(StoreError) in try store.delete(record) }
        return reply("OK")
    }
}
