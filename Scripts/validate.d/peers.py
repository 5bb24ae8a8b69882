"""Madgwick's and Mahony's filters, after their papers, for comparison: ENU, quaternion sensor to earth as w, x, y, z."""

import math

import numpy as np


def product(a, b):
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def unit(v):
    length = math.sqrt(sum(part * part for part in v))
    return tuple(part / length for part in v) if length > 0 else v


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def to_earth(q, v):
    w, axis = q[0], q[1:]
    t = tuple(2 * part for part in cross(axis, v))
    u = cross(axis, t)
    return tuple(v[i] + w * t[i] + u[i] for i in range(3))


def to_sensor(q, v):
    return to_earth((q[0], -q[1], -q[2], -q[3]), v)


def start(acceleration, field):
    """The orientation that gravity and north say."""
    up = unit(acceleration)
    east = unit(cross(field, up))
    north = cross(up, east)
    matrix = np.array([east, north, up])
    w = math.sqrt(max(0, 1 + matrix.trace())) / 2
    x, y, z = (math.sqrt(max(0, 1 + 2 * matrix[i, i] - matrix.trace())) / 2 for i in range(3))
    return unit(
        (
            w,
            math.copysign(x, matrix[2, 1] - matrix[1, 2]),
            math.copysign(y, matrix[0, 2] - matrix[2, 0]),
            math.copysign(z, matrix[1, 0] - matrix[0, 1]),
        )
    )


def reference(q, field):
    """The field in the earth's frame, turned to the meridian."""
    h = to_earth(q, field)
    return (0.0, math.hypot(h[0], h[1]), h[2])


def turn(q, rate, seconds):
    change = product(q, (0.0, *rate))
    return unit(tuple(q[i] + 0.5 * seconds * change[i] for i in range(4)))


def madgwick(rates, accelerations, fields, seconds, beta=0.12):
    """S. Madgwick 2010: a gradient step towards gravity and north, of fixed length. The gain is the one of BROAD."""
    q = start(accelerations[0], fields[0])
    out = []
    for rate, acceleration, field in zip(rates.tolist(), accelerations.tolist(), fields.tolist()):
        up, magnetic = unit(acceleration), unit(field)
        gradient = [0.0] * 4
        for earth, measured in (((0.0, 0.0, 1.0), up), (reference(q, magnetic), magnetic)):
            expected = to_sensor(q, earth)
            error = tuple(expected[i] - measured[i] for i in range(3))
            # The derivative of conj(q) e q by q, times the error: 2 e q err, in quaternions.
            part = product(product((0.0, *earth), q), (0.0, *error))
            for i in range(4):
                gradient[i] -= 2 * part[i]
        step = unit(gradient)
        change = product(q, (0.0, *rate))
        q = unit(tuple(q[i] + seconds * (0.5 * change[i] - beta * step[i]) for i in range(4)))
        out.append(q)
    return np.array(out)


def mahony(rates, accelerations, fields, seconds, kp=0.74, ki=0.0012):
    """R. Mahony 2008: a proportional and integral pull towards gravity and north. The gains are those of BROAD."""
    q = start(accelerations[0], fields[0])
    integral = [0.0] * 3
    out = []
    for rate, acceleration, field in zip(rates.tolist(), accelerations.tolist(), fields.tolist()):
        up, magnetic = unit(acceleration), unit(field)
        error = [0.0] * 3
        for earth, measured in (((0.0, 0.0, 1.0), up), (reference(q, magnetic), magnetic)):
            off = cross(measured, to_sensor(q, earth))
            for i in range(3):
                error[i] += off[i]
        for i in range(3):
            integral[i] += ki * error[i] * seconds
        q = turn(q, tuple(rate[i] + kp * error[i] + integral[i] for i in range(3)), seconds)
        out.append(q)
    return np.array(out)
