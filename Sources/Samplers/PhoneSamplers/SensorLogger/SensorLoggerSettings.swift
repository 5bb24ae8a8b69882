/// What a phone is, as far as it matters for signs and units.
public enum PhonePlatform: String, Sendable, Hashable, CaseIterable {
    /// As the messages say; where they say nothing, as Android.
    case auto
    /// An iPhone or iPad.
    case ios
    /// An Android phone.
    case android
}

/// Whether the app's setting "Standardise Units & Frames" is on.
public enum PhoneStandard: String, Sendable, Hashable, CaseIterable {
    /// As the messages say; where they say nothing, off, as the app is delivered.
    case auto
    /// On.
    case on
    /// Off.
    case off
}

/// How a device's numbers become the declared frame and units.
struct SensorLoggerProfile: Sendable, Hashable {
    /// Accelerations have the opposite sign: an iPhone at rest, face up, reads -1 g on z.
    var isNegated: Bool
    /// What iOS gives in g comes in g, and the watch's pressure in kPa.
    var isAppleUnits: Bool

    init(platform: PhonePlatform, standard: PhoneStandard) {
        let isApple = platform == .ios && standard != .on
        isNegated = isApple
        isAppleUnits = isApple
    }
}
