/// What one data point may be.
public enum PointLimits {
    /// The longest value, in bytes of UTF-8, of a feed that keeps its history; longer ones are dropped by the service
    /// without an error to the sender. Source: adafruit/Adafruit_CircuitPython_AdafruitIO issue 135.
    public static let valueBytes = 1024

    /// The longest value, in bytes, of a feed without history. Source: Adafruit IO API v2 description, raw webhook.
    public static let valueBytesWithoutHistory = 100 * 1024
}
