"""Vibration beside numpy: the same windows, the same figures."""

import os
import tempfile

import numpy as np
from common import Table, finish, replay

rng = np.random.default_rng(5)


def record(rate, seconds, tones, noise):
    time = np.arange(int(rate * seconds)) / rate
    axes = rng.normal(0, noise, (3, len(time)))
    axes[2] += 9.81
    for axis, frequency, amplitude in tones:
        axes[axis] += amplitude * np.sin(2 * np.pi * frequency * time + rng.uniform(0, 6))
    return time, axes


def peer(axes, rate, band):
    size = axes.shape[1]
    window = np.hanning(size + 1)[:-1]
    centred = axes - axes.mean(axis=1, keepdims=True)
    power = sum(np.abs(np.fft.rfft(axis * window)) ** 2 for axis in centred)
    square = power * 2 / (size * (window**2).sum())
    square[-1] /= 2
    frequency = np.fft.rfftfreq(size, 1 / rate)
    counts = (frequency >= 10) & (frequency <= 1000)
    inside = (frequency >= band[0]) & (frequency <= band[1])
    squares = (centred**2).sum(axis=0)
    return {
        "rms": np.sqrt(squares.mean()),
        "peak": np.sqrt(squares.max()),
        "velocity": 1000 * np.sqrt((square[counts] / (2 * np.pi * frequency[counts]) ** 2).sum()),
        "band1": np.sqrt(square[inside].sum()),
    }


table = Table("machine", "window", "strongest, Hz", "ours, Hz", "largest difference of a figure")
for name, rate, size, tones, noise in [
    ("a fan at 24.7 Hz", 200, 512, [(0, 24.7, 1.5), (1, 24.7, 0.8)], 0.05),
    ("a motor at 49.6 Hz with a bearing at 183.2 Hz", 1000, 1024, [(2, 49.6, 4.0), (0, 183.2, 1.0)], 0.2),
    ("a spindle at 612 Hz", 3200, 4096, [(1, 612.4, 8.0)], 0.5),
    ("a pump at 12.3 Hz, short windows", 100, 256, [(0, 12.3, 0.5)], 0.02),
]:
    band = (0.8 * tones[0][1], 1.2 * tones[0][1])
    time, axes = record(rate, 2 * size / rate, tones, noise)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "machine.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("time_ns,ax,ay,az\n")
            for place, moment in enumerate(time):
                file.write(f"{1_600_000_000_000_000_000 + round(moment * 1e9)},"
                           + ",".join(repr(float(axis[place])) for axis in axes) + "\n")
        streams, _ = replay(path, "vibration", "--option", f"window={size}", "--option", f"band={band[0]},{band[1]}")
    ours = streams["vibration"][0]
    theirs = peer(axes[:, :size], rate, band)
    worst = max(abs(ours[key] - value) / value for key, value in theirs.items())
    off = abs(ours["frequency"] - tones[0][1])
    table.row(name, size, tones[0][1], f"{ours['frequency']:.2f}", f"{worst:.1e}",
              target=f"{0.2 * rate / size:.2f} Hz, 1e-5", met=off <= 0.2 * rate / size and worst <= 1e-5)

finish(table)
