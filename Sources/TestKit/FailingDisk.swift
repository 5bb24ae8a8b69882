internal import Glibc

/// Makes the system calls of a child fail on certain files: a library that is loaded before all others.
///
/// It is compiled on the spot with the C compiler.
public final class FailingDisk: Sendable {
    private let directory = TemporaryDirectory()

    /// What a child's environment needs.
    public var environment: [String: String] {
        ["LD_PRELOAD": directory.file("failing.so"), "FAILING_DISK": directory.file("order")]
    }

    /// Compiles the library; nothing fails yet.
    public init() async throws {
        try directory.write(Self.source, to: "failing.c")
        try await ChildProcess.run(
            "cc",
            ["-shared", "-fPIC", "-O1", "-o", directory.file("failing.so"), directory.file("failing.c"), "-ldl"]
        )
        work()
    }

    /// From now on writing to files whose path holds `name` fails with the `errno` of `code`; with `reading` reading too.
    public func fail(_ name: String, with code: Int32, reading: Bool = false) throws {
        // Renamed into its place, so that nobody reads half of it.
        let made = try directory.write("\(code) \(reading ? 1 : 0) \(name)\n", to: "order.new")
        rename(made, directory.file("order"))
    }

    /// From now on nothing fails.
    public func work() {
        unlink(directory.file("order"))
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/types.h>
        #include <unistd.h>

        static int broken(int descriptor, int reading) {
            const char *orders = getenv("FAILING_DISK");
            int order = orders ? open(orders, O_RDONLY | O_CLOEXEC) : -1;
            if (order < 0) return 0;
            static ssize_t (*true_read)(int, void *, size_t);
            if (!true_read) true_read = dlsym(RTLD_NEXT, "read");
            char text[256] = {0}, name[200] = {0}, link[64], path[4096] = {0};
            ssize_t count = true_read(order, text, sizeof text - 1);
            close(order);
            int code = 0, also = 0;
            if (count <= 0 || sscanf(text, "%d %d %199s", &code, &also, name) != 3) return 0;
            if (reading && !also) return 0;
            snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
            if (readlink(link, path, sizeof path - 1) <= 0 || !strstr(path, name)) return 0;
            return code;
        }

        #define FAILS(reading) do { int code = broken(d, reading); if (code) { errno = code; return -1; } } while (0)
        #define NEXT(name) static __typeof__(name) *next; if (!next) next = dlsym(RTLD_NEXT, #name)

        ssize_t write(int d, const void *b, size_t n) { NEXT(write); FAILS(0); return next(d, b, n); }
        ssize_t pwrite(int d, const void *b, size_t n, off_t o) { NEXT(pwrite); FAILS(0); return next(d, b, n, o); }
        ssize_t pwrite64(int d, const void *b, size_t n, off64_t o) { NEXT(pwrite64); FAILS(0); return next(d, b, n, o); }
        ssize_t pread(int d, void *b, size_t n, off_t o) { NEXT(pread); FAILS(1); return next(d, b, n, o); }
        ssize_t pread64(int d, void *b, size_t n, off64_t o) { NEXT(pread64); FAILS(1); return next(d, b, n, o); }
        int fsync(int d) { NEXT(fsync); FAILS(0); return next(d); }
        int fdatasync(int d) { NEXT(fdatasync); FAILS(0); return next(d); }
        int ftruncate(int d, off_t n) { NEXT(ftruncate); FAILS(0); return next(d, n); }
        int ftruncate64(int d, off64_t n) { NEXT(ftruncate64); FAILS(0); return next(d, n); }

        """
}
