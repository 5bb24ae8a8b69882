internal import AdafruitIO
internal import Diagnostics
internal import FastJSON
internal import HTTPServer

extension RESTHandlers {
    /// Who the key belongs to, with the numbers of the plan.
    func showUser() throws(RESTError) -> HTTPResponse {
        let plan = replies.plan
        // Where the plan has no limit the service still sends a number.
        let many = 1_000_000
        let user: JSON = [
            "id": JSON(Int(replies.accountID)),
            "name": .string(account),
            "username": .string(account),
            "color": "#0f6f66",
            "time_zone": "UTC",
            "created_at": .string(call.now.inSecondsText),
            "subscription": [
                "plan": .string(plan == .free ? "free" : "plus"),
                "limits": [
                    "feeds": JSON(plan.feeds ?? many), "dashboards": JSON(plan.dashboards ?? many),
                    "groups": JSON(plan.groups ?? many), "data_ttl": JSON(plan.retention.inSeconds),
                    "data_rate": JSON(plan.pointsPerMinute),
                ],
            ],
        ]
        return reply([
            "user": user,
            "profile": [
                "name": .string(account), "username": .string(account), "time_zone": "UTC",
                "created_at": .string(call.now.inSecondsText),
            ],
            "sidebar": [
                "feed_count": JSON(try asREST { () throws(StoreError) in try store.feeds(account: account).count })
            ],
            "navigation": .object([:]),
            "throttle": throttle,
            "system_messages": [],
        ])
    }

    private var throttle: JSON {
        let rates = service.rates(of: account)
        return [
            "data_rate_limit": JSON(replies.plan.pointsPerMinute),
            "active_data_rate": JSON(rates.data),
            "authentication_rate": JSON(rates.logins),
            "subscribe_authorization_rate": JSON(rates.subscribes),
            "publish_authorization_rate": JSON(rates.publishes),
            "hourly_ban_rate": JSON(rates.bans),
            "mqtt_ban_error_message": JSON(rates.banMessage),
            "active_sms_rate": 0,
        ]
    }

    func showThrottle() throws(RESTError) -> HTTPResponse {
        reply(throttle)
    }

    func listActivities() throws(RESTError) -> HTTPResponse {
        let (start, end) = (try call.time("start_time"), try call.time("end_time"))
        let activities = try asREST { () throws(StoreError) in
            try store.activities(
                account: account,
                model: call.parameters["type"],
                from: start,
                to: end,
                limit: call.limit()
            )
        }
        return reply(.array(activities.map(replies.activity)))
    }

    func clearActivities() throws(RESTError) -> HTTPResponse {
        try asREST { () throws(StoreError) in try store.clearActivities(account: account) }
        return reply("OK")
    }

    /// The time in a zone, taken apart as in C's `struct tm`.
    func timeStruct() throws(RESTError) -> HTTPResponse {
        let seconds = Int64(call.now.seconds.rounded(.down))
        let name = call.query("tz") ?? "UTC"
        guard let zone = ZoneInfo(named: name) else {
            throw RESTError(400, "request failed - \(name) is not a time zone")
        }
        let period = zone.period(at: seconds)
        let time = BrokenDownTime(seconds: seconds + Int64(period.offset))
        return reply([
            "year": JSON(time.year), "mon": JSON(time.month), "mday": JSON(time.day), "hour": JSON(time.hour),
            "min": JSON(time.minute), "sec": JSON(time.second), "wday": JSON(time.weekday),
            "yday": JSON(time.dayOfYear), "isdst": JSON(period.isDaylightSaving ? 1 : 0),
        ])
    }

    func timeText() throws(RESTError) -> HTTPResponse {
        switch call["form"] {
        case "seconds": .text(String(call.now.nanoseconds / 1_000_000_000))
        case "millis": .text(String(call.now.nanoseconds / 1_000_000))
        case "ISO-8601": .text(call.now.description)
        default: throw .invalidAddress
        }
    }

    /// Weather, air quality and random words belong to the paid plan and to no simulator: there are none.
    func noIntegrations() throws(RESTError) -> HTTPResponse {
        call.request.method == .get && call.parameters["id"] == nil
            ? reply([]) : RESTError(404, "not found - the simulator has no integrations but time").response
    }
}
