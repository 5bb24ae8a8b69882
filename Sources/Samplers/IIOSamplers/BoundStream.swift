internal import Diagnostics
internal import Samples

/// A stream of a device that is there: which of its channels give the numbers.
struct BoundStream {
    var assembler: StreamAssembler
    var suspicion: Suspicion
    /// One for each input of the plan; nil where this device has no such channel.
    let channels: [IIODevice.Channel?]

    var plan: StreamPlan { assembler.plan }

    /// Binds plans to a device; tells what is wrong with its mount matrices.
    static func bind(
        _ plans: [StreamPlan],
        to device: IIODevice,
        _ settings: IIOConfiguration,
        refused: (Name, String) -> Void
    ) -> [BoundStream] {
        let root = IIORoot(settings.root)
        return plans.map { plan in
            let channels = plan.inputs.map { input -> IIODevice.Channel? in
                if let exact = device.channels.first(where: { $0.name == input.channel }) { return exact }
                // A stream of one value takes the only channel of its type, whatever its number.
                let same = device.channels.filter { $0.name.type == input.channel.type }
                return plan.inputs.count == 1 && same.count == 1 ? same[0] : nil
            }
            var matrix: MountMatrix?
            if plan.kind.isVector, plan.inputs.count == 3, let type = plan.inputs.first?.channel.type {
                let found = Mounting.matrix(
                    for: type,
                    of: device,
                    in: root,
                    configured: settings.mountMatrix.flatMap { MountMatrix($0) }
                )
                matrix = found.matrix
                if let text = found.refused { refused(plan.stream.name, text) }
            }
            var nearLevel = settings.nearLevel
            if plan.shape == .proximity, nearLevel == nil, let channel = channels[0] {
                nearLevel = device.file("nearlevel", of: channel.name).flatMap { file in
                    number(inFile: file)
                }
            }
            return BoundStream(
                assembler: StreamAssembler(
                    plan,
                    matrix: matrix,
                    correction: settings.factor,
                    nearLevel: nearLevel
                ),
                suspicion: Suspicion(plan),
                channels: channels
            )
        }
    }

    /// What is to be told about the samples since the last call.
    mutating func tellProblems(to sink: any SampleSink) {
        guard let problem = assembler.takeProblem() else { return }
        sink.reject(problem.count, of: plan.stream.name, example: problem.example)
    }
}
