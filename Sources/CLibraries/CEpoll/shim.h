// Swift's Glibc module leaves out these two headers of the C library, and with _GNU_SOURCE unset accept4 and the
// naming of threads.
#ifndef FEEDBRIDGE_CEPOLL_SHIM_H
#define FEEDBRIDGE_CEPOLL_SHIM_H

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
int pthread_setname_np(pthread_t thread, const char *name);

#endif
