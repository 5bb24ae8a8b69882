public import DataPoints
public import Diagnostics

extension OutboxStore {
    /// Takes points and returns at once; what a full buffer or a full disk drops is counted by feed.
    public nonisolated func append(_ points: [DataPoint], priority: UInt8 = 0) {
        let (wall, boot) = (time.wall(), time.boot())
        var rest = points[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(500))
            rest = rest.dropFirst(500)
            let action = buffer.withLock { buffer -> OutboxBuffer.Action in
                let isTimed = buffer.look(wall, boot)
                let batch = OutboxBuffer.Batch(
                    points: part.map { buffer.corrected($0, wall, boot) },
                    priority: priority,
                    wall: wall,
                    boot: boot,
                    isTimed: isTimed,
                    rightOffset: buffer.rightOffset
                )
                return (try? buffer.append(batch, waits: false).get())?.action ?? .nothing
            }
            act(action)
        }
    }

    /// Takes points and returns when they are on the disk; throws when they are not, and counts none of them.
    public nonisolated func durably(_ points: [DataPoint], priority: UInt8 = 0) async throws(OutboxError) {
        guard !points.isEmpty else { return }
        let (wall, boot) = (time.wall(), time.boot())
        let taken = buffer.withLock {
            buffer -> Result<(action: OutboxBuffer.Action, ticket: Int?), OutboxError.NotTaken> in
            let isTimed = buffer.look(wall, boot)
            let batch = OutboxBuffer.Batch(
                points: points.map { buffer.corrected($0, wall, boot) },
                priority: priority,
                wall: wall,
                boot: boot,
                isTimed: isTimed,
                rightOffset: buffer.rightOffset
            )
            return buffer.append(batch, waits: true)
        }
        switch taken {
        case .success(let (_, ticket?)): _ = try await finish(ticket)
        case .success, .failure(.closed): throw .closed
        case .failure(.diskFull): throw .diskFull(path: files.database)
        case .failure(.bufferFull): throw .bufferFull
        }
    }

    /// Says whether the wall clock is right. Points that come while it is not wait for their right time.
    ///
    /// When it is right the points of this boot that wait get the time that the boot-time clock tells, and points
    /// become too old by it from then on, whatever the wall clock does.
    public nonisolated func setClock(isRight: Bool) {
        let offset = time.wall().nanoseconds &- time.boot().nanoseconds
        let action = buffer.withLock { $0.setClock(isRight: isRight, offset: offset) }
        act(action)
    }

    /// The wall clock is wrong, and somebody else tells the right time now: points that wait for theirs get it.
    public nonisolated func setTime(_ right: Timestamp) {
        let offset = right.nanoseconds &- time.boot().nanoseconds
        let action = buffer.withLock { buffer in
            let action = buffer.setClock(isRight: true, offset: offset)
            _ = buffer.setClock(isRight: false, offset: 0)
            return action
        }
        act(action)
    }

    nonisolated func act(_ action: OutboxBuffer.Action) {
        switch action {
        case .nothing: break
        case .wake: wake.yield()
        case .commitNow:
            // The wake-up makes `run` try again should this commit fail.
            wake.yield()
            Task { try? await flush() }
        }
    }
}
