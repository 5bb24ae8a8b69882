internal import Glibc

/// Functions of the GNU C library that Swift's Glibc module leaves out.
///
/// A child process that inherits a connection keeps its other end from seeing it close, so no descriptor may slip
/// through: not between `accept` and `fcntl`, and not because its number is a high one.
enum GNUExtensions {
    private typealias Accept4 =
        @convention(c) (
            Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, Int32
        ) -> Int32
    private typealias AddCloseFrom =
        @convention(c) (
            UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32
        ) -> Int32

    private static let accept4 = function("accept4", as: Accept4.self)
    private static let addCloseFrom = function("posix_spawn_file_actions_addclosefrom_np", as: AddCloseFrom.self)

    /// As `accept`, with a descriptor that is close-on-exec from the beginning.
    static func accept(_ listener: Int32) -> Int32 {
        accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
    }

    /// Has the child close every descriptor from `first` on.
    static func closeAll(from first: Int32, in actions: inout posix_spawn_file_actions_t) {
        let code = addCloseFrom(&actions, first)
        precondition(code == 0, "no memory for a child's file actions")
    }

    private static func function<Function>(_ name: String, as type: Function.Type) -> Function {
        guard let symbol = dlsym(nil, name) else { preconditionFailure("this C library has no \(name)") }
        return unsafeBitCast(symbol, to: type)
    }
}
