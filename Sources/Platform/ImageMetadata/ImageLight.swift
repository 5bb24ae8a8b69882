// Thread rule of libexif: it has no state of its own that is shared; each `ExifData` belongs to one call of `read` and is
// given back in it. Reading blocks: the caller is on an executor or a thread of its own.
internal import CExif
public import Diagnostics
internal import Glibc

/// Why a picture says nothing about the light.
public struct ImageMetadataError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Kind: Sendable, Hashable {
        /// There is no such file.
        case notFound
        /// We may not read it.
        case noPermission
        /// It is no file, or cannot be read.
        case unreadable
        /// It holds no EXIF record, as pictures that were sent through a messenger.
        case noRecord
    }

    /// What kind of trouble it is.
    public let kind: Kind
    /// What failed, on what, why.
    public let description: String
}

/// What the EXIF record of a picture says about the light when it was taken.
public struct ImageLight: Sendable, Hashable {
    /// The BrightnessValue, in the APEX system: one more is twice the light; nil when the camera does not know it.
    public let brightnessValue: Double?
    /// When it was taken, if the record tells that with its offset from UTC.
    public let taken: Timestamp?

    /// Makes one.
    public init(brightnessValue: Double?, taken: Timestamp?) {
        self.brightnessValue = brightnessValue
        self.taken = taken
    }

    /// The luminance of the scene in cd/m^2: in the APEX system 0 is one foot-lambert.
    public var luminance: Double? { brightnessValue.map { 3.426_259 * exp2($0) } }

    /// Reads the record of a JPEG file.
    public static func read(_ path: String) throws(ImageMetadataError) -> ImageLight {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else { throw failure(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw ImageMetadataError(kind: .unreadable, description: "\(path) is no file.")
        }
        guard let data = exif_data_new_from_file(path) else {
            throw ImageMetadataError(
                kind: .noRecord,
                description: "\(path) has no EXIF record: it is no JPEG of a camera, or the record was removed."
            )
        }
        defer { exif_data_unref(data) }
        let order = exif_data_get_byte_order(data)
        // The place of EXIF_IFD_EXIF in `ifd`.
        guard let content = data.pointee.ifd.2 else { return ImageLight(brightnessValue: nil, taken: nil) }
        return ImageLight(brightnessValue: brightness(content, order), taken: taken(content))
    }

    private static func failure(_ path: String) -> ImageMetadataError {
        let code = errno
        let reason = String(cString: strerror(code))
        switch code {
        case ENOENT, ENOTDIR: return ImageMetadataError(kind: .notFound, description: "\(path) is not there.")
        case EACCES, EPERM:
            return ImageMetadataError(
                kind: .noPermission,
                description: "\(path) may not be read by user \(getuid()). Give it the right to read the file."
            )
        default: return ImageMetadataError(kind: .unreadable, description: "\(path) cannot be read: \(reason).")
        }
    }

    /// A signed rational; a numerator of 0xFFFFFFFF says that it is not known, and so does a denominator of 0.
    private static func brightness(_ content: UnsafeMutablePointer<ExifContent>, _ order: ExifByteOrder) -> Double? {
        guard let entry = exif_content_get_entry(content, EXIF_TAG_BRIGHTNESS_VALUE),
            entry.pointee.format == EXIF_FORMAT_SRATIONAL, entry.pointee.components >= 1, entry.pointee.size >= 8,
            let bytes = entry.pointee.data
        else { return nil }
        let fraction = exif_get_srational(bytes, order)
        guard UInt32(bitPattern: fraction.numerator) != 0xFFFF_FFFF, fraction.denominator != 0 else { return nil }
        let value = Double(fraction.numerator) / Double(fraction.denominator)
        // The darkest night is about -11, the sun's disc about 30.
        return (-20...40).contains(value) ? value : nil
    }

    private static func taken(_ content: UnsafeMutablePointer<ExifContent>) -> Timestamp? {
        guard let moment = text(content, EXIF_TAG_DATE_TIME_ORIGINAL),
            let offset = text(content, EXIF_TAG_OFFSET_TIME_ORIGINAL), moment.utf8.count == 19
        else { return nil }
        // `2026:05:01 12:00:00` and `+02:00`.
        let parts = moment.split(separator: " ")
        guard parts.count == 2 else { return nil }
        let date = String(parts[0].map { $0 == ":" ? "-" : $0 })
        let fraction = text(content, EXIF_TAG_SUB_SEC_TIME_ORIGINAL).map { $0.filter(\.isNumber) } ?? ""
        return Timestamp(iso8601: "\(date)T\(parts[1])\(fraction.isEmpty ? "" : ".\(fraction)")\(offset)")
    }

    private static func text(_ content: UnsafeMutablePointer<ExifContent>, _ tag: ExifTag) -> String? {
        guard let entry = exif_content_get_entry(content, tag), entry.pointee.format == EXIF_FORMAT_ASCII,
            let bytes = entry.pointee.data, entry.pointee.size <= 64
        else { return nil }
        let all = UnsafeBufferPointer(start: bytes, count: Int(entry.pointee.size))
        let text = String(decoding: all.prefix { $0 != 0 }, as: UTF8.self)
        let words = text.split { $0 == " " }.joined(separator: " ")
        return words.isEmpty ? nil : words
    }
}
