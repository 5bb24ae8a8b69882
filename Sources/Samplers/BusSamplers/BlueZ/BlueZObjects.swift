internal import SystemBus

/// What bluetoothd shows on the bus, kept up to date from its signals. A value: it asks nobody.
///
/// The properties of a device come in pieces: what a signal leaves out stays as it was.
struct BlueZObjects {
    /// The properties of each interface of each object.
    private var objects: [String: [String: [String: BusValue]]] = [:]

    init() {}

    /// Takes the answer of `GetManagedObjects`.
    init(_ answer: BusValue?) {
        for (path, interfaces) in answer?.entries ?? [:] {
            if let path = path.string { add(path, interfaces) }
        }
    }

    /// Takes the arguments of `InterfacesAdded`; gives the path.
    mutating func added(_ arguments: [BusValue]) -> String? {
        guard arguments.count == 2, let path = arguments[0].string else { return nil }
        add(path, arguments[1])
        return path
    }

    /// Takes the arguments of `InterfacesRemoved`.
    mutating func removed(_ arguments: [BusValue]) {
        guard arguments.count == 2, let path = arguments[0].string else { return }
        for interface in arguments[1].elements ?? [] {
            if let name = interface.string { objects[path]?[name] = nil }
        }
        if objects[path]?.isEmpty == true { objects[path] = nil }
    }

    /// Takes the arguments of `PropertiesChanged` of an object; gives the interface and what changed.
    mutating func changed(_ path: String, _ arguments: [BusValue]) -> (interface: String, changes: [String: BusValue])?
    {
        guard arguments.count == 3, let interface = arguments[0].string, let changes = arguments[1].named else {
            return nil
        }
        // Objects come and go by themselves; at most so many are kept, should they never go.
        guard objects[path] != nil || objects.count < 4096 else { return nil }
        objects[path, default: [:]][interface, default: [:]].merge(changes) { _, new in new }
        for name in arguments[2].elements ?? [] {
            if let name = name.string { objects[path]?[interface]?[name] = nil }
        }
        return (interface, changes)
    }

    private mutating func add(_ path: String, _ interfaces: BusValue) {
        guard objects[path] != nil || objects.count < 4096 else { return }
        for (interface, properties) in interfaces.named ?? [:] {
            objects[path, default: [:]][interface, default: [:]].merge(properties.named ?? [:]) { _, new in new }
        }
    }

    /// The properties of an object's interface; nil when it has none.
    func properties(_ path: String, _ interface: String) -> [String: BusValue]? { objects[path]?[interface] }

    /// The paths of all objects with an interface, in alphabetical order.
    func paths(_ interface: String) -> [String] {
        objects.filter { $0.value[interface] != nil }.keys.sorted()
    }

    /// The adapter called `name` (`hci0`), or the first one.
    func adapter(_ name: String?) -> String? {
        paths(BlueZNames.adapter).first { name == nil || $0 == "\(BlueZNames.root)/\(name ?? "")" }
    }

    /// The strap with that address, or the one that is connected, or that was heard the loudest.
    func strap(address: String?) -> String? {
        let straps = paths(BlueZNames.device).filter { path in
            guard let device = properties(path, BlueZNames.device) else { return false }
            if let address { return device["Address"]?.string?.uppercased() == address }
            return device["UUIDs"]?.elements?.contains { $0.string?.lowercased() == BlueZNames.heartRate } == true
        }
        return straps.max { rank($0) < rank($1) }
    }

    private func rank(_ path: String) -> Int {
        let device = properties(path, BlueZNames.device)
        return device?["Connected"]?.bool == true ? 1000 : device?["RSSI"]?.int ?? -1000
    }

    /// The characteristic with that UUID in a device.
    func characteristic(_ uuid: String, of device: String) -> String? {
        paths(BlueZNames.characteristic).first { path in
            path.hasPrefix("\(device)/")
                && properties(path, BlueZNames.characteristic)?["UUID"]?.string?.lowercased() == uuid
        }
    }
}
