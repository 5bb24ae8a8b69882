internal import Glibc
internal import KernelFiles
public import Samples

/// Why a sensor of Industrial I/O cannot be read, and what to do.
public struct IIOError: Error, Sendable, Hashable, CustomStringConvertible {
    /// How it shows in `status`.
    public let condition: SourceCondition
    /// How long to wait at least before trying again.
    let patience: Duration

    /// What failed, on what, why, and what to do.
    public var description: String { condition.detail ?? condition.word }

    init(_ condition: SourceCondition, patience: Duration = .seconds(1)) {
        self.condition = condition
        self.patience = patience
    }

    /// For a failure on a file of the kernel.
    init(_ failure: KernelFailure, _ path: String) {
        switch failure {
        case .gone:
            self.init(
                .missing(
                    "\(path) is not there: the sensor was unplugged or its driver unloaded. It is taken up when it returns."
                )
            )
        case .noPermission:
            self.init(
                .noPermission("\(path) may not be used by user \(getuid()). \(IIOError.rule)"),
                patience: .seconds(10)
            )
        case .busy:
            self.init(
                .error(
                    "\(path) is busy: another program reads the sensor, such as iio-sensor-proxy. Stop that one, or use mode = \"poll\"."
                ),
                patience: .seconds(10)
            )
        case .nothing:
            self.init(.error("\(path) has no value just now."))
        case .other(let code):
            self.init(.error("\(path): \(String(cString: strerror(code))). The driver or the sensor has a fault."))
        }
    }

    /// The udev rule that gives the right to read and to set sensors.
    static let rule =
        "Put this rule into /etc/udev/rules.d/60-feedbridge-iio.rules, the user into the group feedbridge, and run "
        + "`udevadm trigger --subsystem-match=iio`: "
        + "SUBSYSTEM==\"iio\", GROUP=\"feedbridge\", MODE=\"0660\", "
        + "RUN+=\"/bin/sh -c 'chgrp -R feedbridge /sys%p && chmod -R g+rwX /sys%p'\""
}
