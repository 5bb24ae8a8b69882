internal import Glibc

/// Gives a child a wall clock that a test sets, as `date -s` does: a library that is loaded before all others.
///
/// It is compiled on the spot with the C compiler. The boot-time clock stays as it is.
public final class ShiftedClock: Sendable {
    private let directory = TemporaryDirectory()

    /// What a child's environment needs.
    public var environment: [String: String] {
        ["LD_PRELOAD": directory.file("shifted.so"), "SHIFTED_CLOCK": directory.file("seconds")]
    }

    /// Compiles the library; the clock is right.
    public init() async throws {
        try directory.write(Self.source, to: "shifted.c")
        try await ChildProcess.run(
            "cc",
            ["-shared", "-fPIC", "-O1", "-o", directory.file("shifted.so"), directory.file("shifted.c"), "-ldl"]
        )
    }

    /// From now on the wall clock is ahead by so many seconds; behind when they are negative.
    public func set(aheadBy seconds: Int) throws {
        let made = try directory.write("\(seconds)\n", to: "seconds.new")
        rename(made, directory.file("seconds"))
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <stdlib.h>
        #include <time.h>
        #include <unistd.h>

        static long long ahead(void) {
            const char *path = getenv("SHIFTED_CLOCK");
            int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
            if (file < 0) return 0;
            char text[32] = {0};
            ssize_t count = read(file, text, sizeof text - 1);
            close(file);
            return count > 0 ? atoll(text) : 0;
        }

        int clock_gettime(clockid_t clock, struct timespec *time) {
            static int (*next)(clockid_t, struct timespec *);
            if (!next) next = dlsym(RTLD_NEXT, "clock_gettime");
            int code = next(clock, time);
            if (code == 0 && clock == CLOCK_REALTIME) time->tv_sec += ahead();
            return code;
        }

        """
}
