// swift-tools-version: 6.3
import PackageDescription

// Targets stand in the order of the data's way: each imports only targets above its own.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// A system library: a module map over what Debian's `package` installs.
func library(_ name: String, pkgConfig: String? = nil, package: String) -> Target {
    .systemLibrary(
        name: name,
        path: "Sources/CLibraries/\(name)",
        pkgConfig: pkgConfig,
        providers: [.apt([package])]
    )
}

/// A Swift module in `Sources/folder/name`.
func module(_ folder: String, _ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target
{
    .target(
        name: name,
        dependencies: dependencies,
        path: "Sources/\(folder)/\(name)",
        resources: resources,
        swiftSettings: settings
    )
}

/// A program in `Sources/Programs/name`; its product has the `product` name.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        path: "Sources/Programs/\(name)",
        swiftSettings: settings
    )
}

/// The tests of a module, in `Tests/nameTests`.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: dependencies,
        path: "Tests/\(name)Tests",
        swiftSettings: settings
    )
}

let targets: [Target] = [
    // C libraries
    library("CMosquitto", pkgConfig: "libmosquitto", package: "libmosquitto-dev"),
    library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    library("CMicroHTTPD", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
    library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
    library("CJSONC", pkgConfig: "json-c", package: "libjson-c-dev"),
    library("CExpat", pkgConfig: "expat", package: "libexpat1-dev"),
    library("CMiniZip", package: "libminizip-dev"),
    library("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
    library("CExif", pkgConfig: "libexif", package: "libexif-dev"),
    library("CQREncode", pkgConfig: "libqrencode", package: "libqrencode-dev"),
    library("CSodium", pkgConfig: "libsodium", package: "libsodium-dev"),
    library("CSystemd", pkgConfig: "libsystemd", package: "libsystemd-dev"),
    .target(name: "CSimdJSON", path: "Sources/CLibraries/CSimdJSON", linkerSettings: [.linkedLibrary("simdjson")]),
    library("CEpoll", package: "libc6-dev"),
    .target(name: "CTOMLPlusPlus", path: "Sources/CLibraries/CTOMLPlusPlus"),

    // Platform
    module("Platform", "Diagnostics", []),
    module("Platform", "MQTT", ["CMosquitto", "Diagnostics"]),
    module("Platform", "KernelFiles", []),
    module("Platform", "SQLite", ["CSQLite", "Diagnostics"]),
    module("Platform", "Sockets", ["CEpoll", "Diagnostics"]),
    module("Platform", "HTTPServer", ["CMicroHTTPD", "Diagnostics"]),
    module("Platform", "HTTPClient", ["CCurl", "Diagnostics"]),
    module("Platform", "FastJSON", ["CJSONC", "CSimdJSON"]),
    module("Platform", "SystemBus", ["CSystemd", "Diagnostics"]),
    module("Platform", "TOML", ["CTOMLPlusPlus", "FastJSON"]),
    module("Platform", "XML", ["CExpat"]),
    module("Platform", "Compression", ["CMiniZip", "CZlib"]),
    module("Platform", "ImageMetadata", ["CExif", "Diagnostics"]),
    module("Platform", "QRCode", ["CQREncode"]),
    module("Platform", "SecretBox", ["CSodium", "Diagnostics"]),

    // Samples, samplers, recorder
    module("Samples", "Samples", ["Diagnostics"]),
    module("Samplers", "HostSamplers", ["Samples", "Diagnostics", "KernelFiles"]),
    module("Samplers", "IIOSamplers", ["Samples", "Diagnostics", "KernelFiles"]),
    module("Samplers", "ImageSamplers", ["Samples", "Diagnostics", "ImageMetadata"]),
    module("Samplers", "BusSamplers", ["Samples", "SystemBus", "Diagnostics"]),
    module("Samplers", "ReplaySamplers", ["Samples", "Diagnostics", "Compression", "FastJSON"]),
    module(
        "Samplers",
        "GPSDSamplers",
        ["Samples", "ReplaySamplers", "Diagnostics", "FastJSON", "XML", "Compression"]
    ),
    module("Samplers", "HealthImport", ["Samples", "Compression"]),
    module(
        "Samplers",
        "PhoneSamplers",
        ["Samples", "Diagnostics", "HTTPServer", "HTTPClient", "MQTT", "FastJSON", "SecretBox"]
    ),
    module("Derivations", "Derivations", ["Samples", "Diagnostics"]),
    module("Recorder", "Recorder", ["Samples", "SQLite", "Diagnostics", "FastJSON"]),

    // Delivery
    module("Delivery", "DataPoints", ["Diagnostics"]),
    module("Delivery", "Feeds", ["Samples", "DataPoints", "Diagnostics", "FastJSON"]),
    module("Delivery", "Outbox", ["DataPoints", "SQLite", "Diagnostics"]),
    module("Delivery", "AdafruitIO", ["DataPoints", "Diagnostics", "FastJSON"]),
    module("Delivery", "AdafruitIOClient", ["AdafruitIO", "DataPoints", "HTTPClient", "Diagnostics", "FastJSON"]),
    module(
        "Delivery",
        "Publisher",
        ["AdafruitIO", "AdafruitIOClient", "DataPoints", "Diagnostics", "FastJSON", "HTTPClient", "MQTT", "Outbox"]
    ),

    // Control
    module("Control", "Control", ["Diagnostics", "FastJSON"]),
    module("Control", "Alerts", ["Samples", "DataPoints", "Diagnostics"]),

    // Bridge and programs
    module(
        "Bridge",
        "Bridge",
        [
            "Diagnostics", "MQTT", "SQLite", "HTTPServer", "HTTPClient", "FastJSON", "TOML", "Samples", "HostSamplers",
            "IIOSamplers", "ImageSamplers", "ReplaySamplers", "BusSamplers", "GPSDSamplers", "PhoneSamplers", "QRCode",
            "SecretBox", "HealthImport", "Derivations", "Recorder", "DataPoints", "Feeds", "Outbox", "AdafruitIO",
            "AdafruitIOClient", "Publisher", "Control", "Alerts",
        ]
    ),
    program("FeedbridgeCommand", ["Bridge", "Diagnostics", "Recorder"]),
    module(
        "Programs",
        "Simulator",
        ["AdafruitIO", "DataPoints", "Diagnostics", "FastJSON", "HTTPServer", "Sockets", "SQLite"],
        resources: [.embedInCode("Dashboards/Assets")]
    ),
    program("SimulatorCommand", ["Simulator", "Diagnostics"]),
    program(
        "Benchmark",
        [
            "Diagnostics", "MQTT", "Recorder", "Samples", "HostSamplers", "IIOSamplers", "ReplaySamplers",
            "PhoneSamplers", "Derivations", "DataPoints", "Feeds", "FastJSON", "Outbox", "Publisher", "SQLite",
        ]
    ),

    // Test support and tests
    .target(
        name: "TestKit",
        dependencies: ["Samples", "Diagnostics"],
        path: "Sources/TestKit",
        swiftSettings: settings
    ),
    tests("TestKit", ["TestKit", "Diagnostics"]),
    tests("Diagnostics", ["Diagnostics", "TestKit"]),
    tests("MQTT", ["MQTT", "Diagnostics", "TestKit"]),
    tests("SQLite", ["SQLite", "Diagnostics", "TestKit"]),
    tests("Sockets", ["Sockets", "Diagnostics", "TestKit"]),
    tests("HTTPServer", ["HTTPServer", "HTTPClient", "Diagnostics", "TestKit"]),
    tests("HTTPClient", ["HTTPClient", "HTTPServer", "Diagnostics", "TestKit"]),
    tests("SystemBus", ["SystemBus", "Diagnostics", "TestKit"]),
    tests("FastJSON", ["FastJSON", "TestKit"]),
    tests("TOML", ["TOML", "FastJSON", "TestKit"]),
    tests("XML", ["XML"]),
    tests("Compression", ["Compression", "TestKit"]),
    tests("QRCode", ["QRCode", "TestKit"]),
    tests("SecretBox", ["SecretBox", "Diagnostics"]),
    tests("Samples", ["Samples", "Diagnostics", "TestKit"]),
    tests("HostSamplers", ["HostSamplers", "Samples", "Diagnostics", "TestKit"]),
    tests("IIOSamplers", ["IIOSamplers", "KernelFiles", "Samples", "Diagnostics", "XML", "TestKit"]),
    tests("ImageSamplers", ["ImageSamplers", "ImageMetadata", "Samples", "Diagnostics", "TestKit"]),
    tests("ReplaySamplers", ["ReplaySamplers", "Samples", "Diagnostics", "TestKit"]),
    tests("BusSamplers", ["BusSamplers", "Samples", "SystemBus", "FastJSON", "Diagnostics", "TestKit"]),
    tests("GPSDSamplers", ["GPSDSamplers", "ReplaySamplers", "Samples", "Diagnostics", "FastJSON", "TestKit"]),
    tests("HealthImport", ["HealthImport", "Samples", "Compression", "TestKit"]),
    tests(
        "PhoneSamplers",
        [
            "PhoneSamplers", "Samples", "HTTPServer", "HTTPClient", "MQTT", "FastJSON", "SecretBox", "Diagnostics",
            "TestKit",
        ]
    ),
    tests("Derivations", ["Derivations", "ReplaySamplers", "GPSDSamplers", "Samples", "Diagnostics", "TestKit"]),
    tests("Recorder", ["Recorder", "Samples", "SQLite", "Diagnostics", "TestKit"]),
    tests("DataPoints", ["DataPoints", "Diagnostics", "TestKit"]),
    tests("Feeds", ["Feeds", "Samples", "DataPoints", "Diagnostics", "TestKit"]),
    tests("Outbox", ["Outbox", "DataPoints", "SQLite", "Diagnostics", "TestKit"]),
    tests("AdafruitIO", ["AdafruitIO", "DataPoints", "Diagnostics", "FastJSON", "TestKit"]),
    tests(
        "AdafruitIOClient",
        ["AdafruitIOClient", "AdafruitIO", "DataPoints", "HTTPServer", "Diagnostics", "FastJSON", "TestKit"]
    ),
    tests(
        "Publisher",
        [
            "Publisher", "Simulator", "AdafruitIO", "AdafruitIOClient", "DataPoints", "MQTT", "Outbox", "SQLite",
            "Diagnostics", "TestKit",
        ]
    ),
    tests("Control", ["Control", "Diagnostics", "TestKit"]),
    tests("Alerts", ["Alerts", "Samples", "DataPoints", "Diagnostics"]),
    tests(
        "Simulator",
        [
            "Simulator", "AdafruitIO", "DataPoints", "MQTT", "HTTPClient", "HTTPServer", "FastJSON", "Sockets",
            "Diagnostics", "TestKit",
        ]
    ),
    tests(
        "Bridge",
        [
            "Bridge", "AdafruitIO", "AdafruitIOClient", "Alerts", "Control", "DataPoints", "Feeds", "HTTPServer",
            "IIOSamplers", "MQTT", "Outbox", "PhoneSamplers", "Publisher", "Recorder", "ReplaySamplers", "Samples",
            "Simulator", "FastJSON", "SQLite", "TOML",
            "Diagnostics", "TestKit",
        ]
    ),
    tests("Programs", ["FeedbridgeCommand", "FastJSON", "SimulatorCommand", "Diagnostics", "TestKit"]),
]

let package = Package(
    name: "feedbridge",
    products: [
        .executable(name: "feedbridge", targets: ["FeedbridgeCommand"]),
        .executable(name: "adafruit-io-simulator", targets: ["SimulatorCommand"]),
        .library(name: "MQTT", targets: ["MQTT"]),
        .library(name: "AdafruitIO", targets: ["AdafruitIO"]),
        .library(name: "AdafruitIOClient", targets: ["AdafruitIOClient"]),
        .library(name: "Derivations", targets: ["Derivations", "Samples", "Diagnostics"]),
        .library(name: "Simulator", targets: ["Simulator"]),
    ],
    targets: targets,
    cxxLanguageStandard: .cxx17
)
