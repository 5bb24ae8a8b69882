internal import Glibc

/// Whether this process may read `file`.
func isReadable(_ file: String) -> Bool {
    access(file, R_OK) == 0
}
