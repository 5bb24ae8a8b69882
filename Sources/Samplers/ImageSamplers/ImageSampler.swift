// Hardware: any camera that writes JPEG files with an EXIF record into a folder.
//
// Unit: the BrightnessValue of the APEX system (tag 0x9203), where one more is twice the light, and the luminance that it
// stands for in cd/m^2. There are no axes. Rate: one sample for each new picture, at the time when it was taken.
//
// What goes wrong: the value is not known (numerator 0xFFFFFFFF) or the record was removed, the file is still being
// written when it is seen first, the camera does not say its time zone (then the file's own time counts).
public import Diagnostics
internal import Glibc
internal import ImageMetadata
public import Samples

/// The light that pictures were taken in: of one file, or of a folder's newest picture.
public final class ImageSampler: Sampler {
    /// `image`.
    public let kind = "image"

    /// `image` with its suffix.
    public let streams: [Samples.Stream]

    private let configuration: ImageConfiguration
    private let time: any TimeSource
    private let executor = BlockingExecutor(label: "feedbridge.image")

    /// Makes a sampler; the file need not be there yet.
    public init(_ configuration: ImageConfiguration, time: any TimeSource = SystemTime()) {
        self.configuration = configuration
        self.time = time
        let name = Name(mapping: configuration.suffix.map { "image.\($0)" } ?? "image")
        streams = [Samples.Stream(name, fields: KnownStreams.fields(of: name) ?? [Field(name)])]
    }

    /// Looks every so often until the task is cancelled; a picture gives one sample.
    public func run(into sink: any SampleSink) async throws {
        let watch = ImageWatch(configuration.path)
        var last: SourceCondition?
        while true {
            try Task.checkCancellation()
            let outcome = await executor.run { watch.look() }
            if let condition = outcome.condition, condition != last {
                last = condition
                sink.report(condition, of: streams[0].name)
            }
            if let text = outcome.unusable { sink.reject(1, of: streams[0].name, example: text) }
            if let (moment, light) = outcome.light {
                sink.receive(SampleBatch(streams[0], arrival: time.boot(), time: moment, values(light)))
            }
            try await time.sleep(for: max(configuration.every, .milliseconds(10)))
        }
    }

    /// Reads the picture that counts now.
    public func readings() async -> [SensorReading] {
        let watch = ImageWatch(configuration.path)
        let outcome = await executor.run { watch.look(isPatient: false) }
        let condition = outcome.unusable.map { SourceCondition.error($0) } ?? outcome.condition ?? .silent
        let values = outcome.light.map { self.values($0.1) } ?? streams[0].fields.map { _ in .missing }
        return [SensorReading(stream: streams[0], values: values, condition: condition)]
    }

    private func values(_ light: ImageLight) -> [Value] {
        [light.brightnessValue, light.luminance].map { number in number.map { Value($0) } ?? .missing }
    }
}

/// What one look found.
struct ImageOutcome: Sendable {
    var light: (Timestamp, ImageLight)?
    /// A picture that says nothing, and why.
    var unusable: String?
    /// How the source is doing; nil when this look says nothing about it.
    var condition: SourceCondition?
}

/// Remembers which picture was read last.
final class ImageWatch: Sendable {
    private struct State {
        var finder: PictureFinder
        var read: Picture?
        var failed: Picture?
    }

    private let path: String
    private let state: Guarded<State>

    init(_ path: String) {
        self.path = path
        state = Guarded(State(finder: PictureFinder(path)))
    }

    /// Reads the picture that counts, if it is another one than last time.
    ///
    /// One that cannot be read may still be being written: unless `isPatient` is false it is told only when it has not
    /// changed from one look to the next.
    func look(isPatient: Bool = true) -> ImageOutcome {
        state.withLock { state in
            do throws(PictureFailure) {
                guard let picture = try state.finder.find() else {
                    return ImageOutcome(condition: .missing("\(path) has no picture (.jpg, .jpeg) yet."))
                }
                guard picture != state.read else { return ImageOutcome() }
                return look(at: picture, isPatient: isPatient, &state)
            } catch {
                return ImageOutcome(condition: condition(error.code))
            }
        }
    }

    private func look(at picture: Picture, isPatient: Bool, _ state: inout State) -> ImageOutcome {
        do throws(ImageMetadataError) {
            let light = try ImageLight.read(picture.path)
            state.read = picture
            guard light.brightnessValue != nil else {
                return ImageOutcome(
                    unusable: "\(picture.path): its camera does not tell the brightness",
                    condition: .ok
                )
            }
            return ImageOutcome(light: (light.taken ?? picture.changed, light), condition: .ok)
        } catch {
            if error.kind == .noPermission {
                return ImageOutcome(condition: .noPermission(error.description))
            }
            if isPatient, state.failed != picture {
                state.failed = picture
                return ImageOutcome()
            }
            state.read = picture
            return ImageOutcome(unusable: error.description, condition: .ok)
        }
    }

    private func condition(_ code: Int32) -> SourceCondition {
        switch code {
        case ENOENT, ENOTDIR: .missing("\(path) is not there. It is taken up when it comes.")
        case EACCES, EPERM:
            .noPermission("\(path) may not be read by user \(getuid()). Give it the right to read the folder.")
        default: .error("\(path) cannot be looked at: \(String(cString: strerror(code))).")
        }
    }
}
