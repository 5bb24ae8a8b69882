#pragma once
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
// Swift's Glibc module leaves these two out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

// What a daemon is started with. Swift cannot call `MHD_start_daemon`: it is variadic.
struct feedbridge_mhd_setup {
    int listen_socket;
    size_t connection_memory;
    unsigned int connection_limit;
    unsigned int timeout_seconds;
    void *context; // given to each callback
    MHD_AccessHandlerCallback handle_request;
    void *(*begin_request)(void *context, const char *uri, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback request_completed;
    MHD_NotifyConnectionCallback connection_changed;
    const char *certificate; // PEM, or NULL for plain HTTP; both must live as long as the daemon
    const char *key;
    void (*log)(void *context, const char *line);
};

// `MHD_OPTION_EXTERNAL_LOGGER` hands over a `va_list`, which Swift cannot read: format it here.
static inline void feedbridge_mhd_log(void *setup, const char *format, va_list arguments) {
    struct feedbridge_mhd_setup *s = (struct feedbridge_mhd_setup *)setup;
    char line[512];
    vsnprintf(line, sizeof line, format, arguments);
    s->log(s->context, line);
}

// The target stays as the client sent it: Swift decodes it, after splitting it.
static inline size_t feedbridge_mhd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

// `setup` must live as long as the daemon. No thread is started: whoever called this polls and calls `MHD_run`.
static inline struct MHD_Daemon *feedbridge_mhd_start(struct feedbridge_mhd_setup *setup) {
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)setup->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)setup->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (setup->certificate != NULL) flags |= MHD_USE_TLS;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, setup->handle_request, setup->context,
        MHD_OPTION_EXTERNAL_LOGGER, feedbridge_mhd_log, setup,
        MHD_OPTION_LISTEN_SOCKET, setup->listen_socket,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, setup->connection_memory,
        MHD_OPTION_CONNECTION_LIMIT, setup->connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, setup->timeout_seconds,
        MHD_OPTION_URI_LOG_CALLBACK, setup->begin_request, setup->context,
        MHD_OPTION_UNESCAPE_CALLBACK, feedbridge_mhd_keep_escapes, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, setup->request_completed, setup->context,
        MHD_OPTION_NOTIFY_CONNECTION, setup->connection_changed, setup->context,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, // the loop's thread blocks it
        MHD_OPTION_ARRAY, setup->certificate != NULL ? tls : none,
        MHD_OPTION_END);
}

// `MHD_get_connection_info` and `MHD_get_daemon_info` are variadic.
static inline const union MHD_ConnectionInfo *feedbridge_mhd_connection_info(
    struct MHD_Connection *connection, enum MHD_ConnectionInfoType what) {
    return MHD_get_connection_info(connection, what);
}

static inline int feedbridge_mhd_epoll_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info != NULL ? info->epoll_fd : -1;
}

static inline unsigned int feedbridge_mhd_connections(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info != NULL ? info->num_connections : 0;
}

// `prctl` is variadic. Names the calling thread, for debuggers and `top -H`.
static inline void feedbridge_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}
