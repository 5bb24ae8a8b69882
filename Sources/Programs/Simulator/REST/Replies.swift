internal import AdafruitIO
internal import DataPoints
internal import Diagnostics
internal import FastJSON

/// Records as the REST interface shows them.
struct Replies: Sendable {
    let account: String
    let accountID: Int64
    let plan: AdafruitIOPlan

    var owner: JSON { ["id": JSON(Int(accountID)), "username": .string(account)] }

    /// A data point; place members are left out when there is no place.
    func datum(_ datum: StoredDatum, of feed: StoredFeed) -> JSON {
        var members: JSONObject = [
            "id": .string(datum.id),
            "value": .string(datum.value),
            "feed_id": JSON(Int(feed.id)),
            "feed_key": .string(feed.fullKey),
            "created_at": .string(datum.createdAt.inSecondsText),
        ]
        if let location = datum.location {
            let elevation = location.elevation ?? 0
            members["location"] = [
                "type": "Feature",
                "geometry": [
                    "type": "Point",
                    "coordinates": [JSON(location.longitude), JSON(location.latitude), JSON(elevation)],
                ],
            ]
            members["lat"] = JSON(location.latitude)
            members["lon"] = JSON(location.longitude)
            members["ele"] = JSON(elevation)
        }
        members["created_epoch"] = JSON(Int(datum.createdAt.seconds.rounded(.down)))
        members["expiration"] = .string((datum.createdAt + plan.retention).inSecondsText)
        return .object(members)
    }

    /// A feed, with the groups that hold it and the web hooks that write to it.
    func feed(_ feed: StoredFeed, groups: [StoredGroup], hooks: [StoredRecord] = []) -> JSON {
        .object([
            "username": .string(account),
            "owner": owner,
            "id": JSON(Int(feed.id)),
            "name": .string(feed.name),
            "description": JSON(feed.description),
            "license": JSON(feed.license),
            "history": .bool(feed.history),
            "enabled": true,
            "visibility": .string(feed.visibility),
            "unit_type": JSON(feed.unitType),
            "unit_symbol": JSON(feed.unitSymbol),
            "last_value": JSON(feed.lastValue),
            "created_at": .string(feed.createdAt.inSecondsText),
            "updated_at": .string(feed.updatedAt.inSecondsText),
            "status_notify": .bool(feed.statusNotify),
            "status_timeout": JSON(feed.statusTimeout),
            "status": "online",
            "key": .string(feed.fullKey),
            "writable": true,
            "group": [
                "id": JSON(Int(feed.groupID)), "key": .string(feed.groupKey), "name": .string(feed.groupName),
                "user_id": JSON(Int(accountID)),
            ],
            "groups": .array(groups.map(brief)),
            "feed_webhook_receivers": .array(hooks.map { ["id": JSON(Int($0.id)), "token": JSON($0.key)] }),
            "feed_status_changes": [],
        ])
    }

    private func brief(_ group: StoredGroup) -> JSON {
        [
            "id": JSON(Int(group.id)), "key": .string(group.key), "name": .string(group.name),
            "user_id": JSON(Int(accountID)),
        ]
    }

    /// A group with its feeds, which are shown by their full keys.
    func group(_ group: StoredGroup, feeds: [JSON]) -> JSON {
        [
            "username": .string(account),
            "owner": owner,
            "id": JSON(Int(group.id)),
            "name": .string(group.name),
            "description": JSON(group.description),
            "created_at": .string(group.createdAt.inSecondsText),
            "updated_at": .string(group.updatedAt.inSecondsText),
            "visibility": .string(group.visibility),
            "key": .string(group.key),
            "feeds": .array(feeds),
        ]
    }

    /// A dashboard; the layouts only when one is asked for alone.
    func dashboard(_ dashboard: StoredDashboard, blocks: [StoredBlock], withLayouts: Bool) -> JSON {
        var members: JSONObject = [
            "username": .string(account),
            "owner": owner,
            "id": JSON(Int(dashboard.id)),
            "name": .string(dashboard.name),
            "key": .string(dashboard.key),
            "description": nil,
            "visibility": "private",
            "show_header": false,
            "color_mode": "dark",
            "block_borders": true,
            "allow_overlap": false,
            "header_image_url": nil,
        ]
        members = members.merged(with: dashboard.settings)
        members["created_at"] = .string(dashboard.createdAt.inSecondsText)
        members["updated_at"] = .string(dashboard.updatedAt.inSecondsText)
        members["blocks"] = .array(blocks.map(block))
        if withLayouts { members["layouts"] = dashboard.layouts.json }
        return .object(members)
    }

    /// A block.
    func block(_ block: StoredBlock) -> JSON {
        var members: JSONObject = [
            "id": .string(String(block.id)),
            "name": JSON(block.name),
            "description": nil,
            "visual_type": .string(block.visualType),
            "column": nil,
            "row": nil,
            "size_x": 4,
            "size_y": 4,
            "source_key": nil,
            "source": nil,
            "properties": .object([:]),
        ]
        members = members.merged(with: block.settings)
        members["block_feeds"] = .array(
            block.wires.map { wire in
                [
                    "id": .string(String(wire.id)),
                    "feed": [
                        "id": JSON(Int(wire.feed.id)), "name": .string(wire.feed.name),
                        "key": .string(wire.feed.fullKey),
                    ],
                    "group": [
                        "id": JSON(Int(wire.feed.groupID)), "name": .string(wire.feed.groupName),
                        "key": .string(wire.feed.groupKey),
                    ],
                ]
            }
        )
        members["created_at"] = .string(block.createdAt.inSecondsText)
        members["updated_at"] = .string(block.updatedAt.inSecondsText)
        return .object(members)
    }

    /// Something that was done.
    func activity(_ activity: StoredActivity) -> JSON {
        [
            "username": .string(account),
            "owner": owner,
            "id": JSON(Int(activity.id)),
            "action": .string(activity.action),
            "model": .string(activity.model),
            "data": .string(activity.data),
            "user_id": JSON(Int(accountID)),
            "created_at": .string(activity.createdAt.inSecondsText),
            "updated_at": .string(activity.createdAt.inSecondsText),
        ]
    }

    /// A token, an action or a permission.
    func record(_ record: StoredRecord, defaults: JSONObject) -> JSON {
        var members: JSONObject = ["id": JSON(Int(record.id))]
        if let key = record.key { members["key"] = .string(key) }
        members = members.merged(with: defaults).merged(with: record.body)
        members["user_id"] = JSON(Int(accountID))
        members["created_at"] = .string(record.createdAt.inSecondsText)
        members["updated_at"] = .string(record.updatedAt.inSecondsText)
        return .object(members)
    }
}
