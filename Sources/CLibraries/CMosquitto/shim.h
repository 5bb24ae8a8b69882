#pragma once
#include <mosquitto.h>
#include <mqtt_protocol.h>

// eventfd is not in Swift's Glibc module.
#include <sys/eventfd.h>

// libmosquitto says that a TLS handshake failed but not why; OpenSSL knows, and `mosquitto_ssl_get` leads to it. Three
// declarations stand here instead of the OpenSSL headers, which would be the largest import of the project.
struct ssl_st;
long SSL_get_verify_result(const struct ssl_st *ssl);
int SSL_is_init_finished(const struct ssl_st *ssl);
const char *X509_verify_cert_error_string(long code);

// Whether the handshake is over: only then does the library send CONNECT, and nothing of its own says so.
static inline int feedbridge_has_shaken_hands(struct mosquitto *mosquitto) {
    const struct ssl_st *ssl = mosquitto_ssl_get(mosquitto);
    return ssl ? SSL_is_init_finished(ssl) : 0;
}

static inline long feedbridge_verify_result(struct mosquitto *mosquitto) {
    const struct ssl_st *ssl = mosquitto_ssl_get(mosquitto);
    return ssl ? SSL_get_verify_result(ssl) : 0;
}
