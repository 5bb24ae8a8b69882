/// The names that bluetoothd uses on the bus (BlueZ 5.66, doc/*-api.txt).
enum BlueZNames {
    static let service = "org.bluez"
    static let root = "/org/bluez"
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let gattService = "org.bluez.GattService1"
    static let characteristic = "org.bluez.GattCharacteristic1"
    static let battery = "org.bluez.Battery1"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
    static let dbus = "org.freedesktop.DBus"

    /// The service Heart Rate, 0x180D.
    static let heartRate = "0000180d-0000-1000-8000-00805f9b34fb"
    /// The characteristic Heart Rate Measurement, 0x2A37.
    static let heartRateMeasurement = "00002a37-0000-1000-8000-00805f9b34fb"
    /// The service data of BTHome, 0xFCD2.
    static let bthome = "0000fcd2-0000-1000-8000-00805f9b34fb"
}
