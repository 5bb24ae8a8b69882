#pragma once
#include <curl/curl.h>
#include <sys/prctl.h>

// libcurl's option and information calls are variadic, which Swift cannot call: one function a kind of argument. The
// parentheses keep the header's type-checking macros of the same names out.

static inline CURLcode feedbridge_curl_set_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode feedbridge_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(handle, option, value);
}

// libcurl copies the text.
static inline CURLcode feedbridge_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode feedbridge_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return (curl_easy_setopt)(handle, option, value);
}

// For `CURLOPT_READFUNCTION`, `CURLOPT_WRITEFUNCTION` and `CURLOPT_HEADERFUNCTION`, which have one form.
static inline CURLcode feedbridge_curl_set_callback(CURL *handle, CURLoption option, curl_write_callback value) {
    return (curl_easy_setopt)(handle, option, value);
}

static inline CURLcode feedbridge_curl_set_open_socket(CURL *handle, curl_opensocket_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline long feedbridge_curl_get_long(CURL *handle, CURLINFO what) {
    long value = 0;
    (curl_easy_getinfo)(handle, what, &value);
    return value;
}

static inline void *feedbridge_curl_get_private(CURL *handle) {
    void *value = NULL;
    (curl_easy_getinfo)(handle, CURLINFO_PRIVATE, &value);
    return value;
}

static inline CURLMcode feedbridge_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}

// A message's `data` is a union: this is the member that a finished transfer has.
static inline CURLcode feedbridge_curl_result(const CURLMsg *message) {
    return message->data.result;
}

// `prctl` is variadic. Names the calling thread, for debuggers and `top -H`.
static inline void feedbridge_curl_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}
