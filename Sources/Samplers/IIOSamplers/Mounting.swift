internal import KernelFiles

/// Finds out how a sensor is built in.
enum Mounting {
    /// The matrix for a vector, and what is wrong with those that were refused.
    ///
    /// The configuration's beats udev's, which beats the driver's: those who know the machine know better.
    static func matrix(
        for type: String,
        of device: IIODevice,
        in root: IIORoot,
        configured: MountMatrix?
    ) -> (matrix: MountMatrix, refused: String?) {
        if let configured { return (configured, nil) }
        var refused: String?
        func take(_ text: String?, _ place: String) -> MountMatrix? {
            guard let text, !text.isEmpty else { return nil }
            if let matrix = MountMatrix(text) { return matrix }
            refused = refused ?? "\(place) has a mount matrix that is none (\(text.prefix(80))); it is not used"
            return nil
        }
        let number = KernelFile.line("\(device.folder)/dev")
        if let matrix = take(root.udevProperty("ACCEL_MOUNT_MATRIX", id: device.id, number: number), "udev") {
            return (matrix, nil)
        }
        for file in ["in_\(type)_mount_matrix", "in_mount_matrix", "mount_matrix"] where device.files.contains(file) {
            if let matrix = take(KernelFile.line("\(device.folder)/\(file)"), file) { return (matrix, refused) }
        }
        return (.identity, refused)
    }
}
