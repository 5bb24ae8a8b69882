internal import KernelFiles
internal import Samples

/// `screen` from `/sys/class/backlight`: how bright each screen is set, from 0 to 1.
final class BacklightSource: HostSource {
    private struct Screen {
        let folder: String
        let brightness: KernelFile
        let most: KernelFile
        /// 0 when the screen is on, whatever its brightness is set to.
        let power: KernelFile?

        init(_ folder: String) {
            self.folder = folder
            brightness = KernelFile("\(folder)/brightness")
            most = KernelFile("\(folder)/max_brightness")
            power = KernelFile.exists("\(folder)/bl_power") ? KernelFile("\(folder)/bl_power") : nil
        }
    }

    let streams: [Stream]
    private var screens: [Screen]

    /// The first screen is `screen`, the others have their names behind it.
    init(sys: String) {
        let folder = "\(sys)/class/backlight"
        // Where a screen has several controls, the firmware's is the one that works.
        let order = ["firmware", "platform", "raw"]
        let found = KernelFile.names(in: folder).filter { KernelFile.exists("\(folder)/\($0)/brightness") }
            .map { name -> (rank: Int, name: String) in
                let type = KernelFile.line("\(folder)/\(name)/type") ?? ""
                return (order.firstIndex(of: type) ?? order.count, name)
            }
            .sorted { ($0.rank, $0.name) < ($1.rank, $1.name) }
        let field = Field(Name(mapping: "brightness"))
        var names = UniqueNames()
        streams = found.enumerated().map { place, screen in
            let name = place == 0 ? "" : "." + screen.name.replacing(".", with: "_")
            return Stream(names.name("screen", name), fields: [field])
        }
        screens = found.map { Screen("\(folder)/\($0.name)") }
    }

    func read(seconds: Double?, buffer: ReadBuffer, into readings: inout [HostReading]) {
        for (place, screen) in screens.enumerated() {
            do throws(KernelFailure) {
                let isOff = try screen.power.map { power throws(KernelFailure) in try number(power, buffer) } ?? 0 != 0
                let most = try number(screen.most, buffer)
                let set = try number(screen.brightness, buffer)
                guard most > 0 else {
                    let text = "\(screen.most.path) is \(most): the driver does not say what the most is."
                    readings.append(HostReading(stream: place, values: nil, condition: .error(text)))
                    continue
                }
                let part = isOff ? 0 : min(1, max(0, set / most))
                readings.append(HostReading(stream: place, values: [.real(part)], condition: .ok))
            } catch {
                // All are opened anew: one that is left from before the driver was loaded again would fail later.
                screens[place] = Screen(screen.folder)
                let condition = error.condition(screen.brightness.path)
                readings.append(HostReading(stream: place, values: nil, condition: condition))
            }
        }
    }

    private func number(_ file: KernelFile, _ buffer: ReadBuffer) throws(KernelFailure) -> Double {
        var text = try file.read(into: buffer)
        guard let number = text.number() else { throw .nothing }
        return number
    }
}
