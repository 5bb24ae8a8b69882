#pragma once
#include <systemd/sd-bus.h>
#include <sys/eventfd.h> // Swift's Glibc module does not have it.
