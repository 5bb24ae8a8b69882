"""Steps on recordings with a known count, as they are and changed: rate, unit, axes, noise, pace."""

import csv
import gzip
import os
import tempfile

import numpy as np
from common import Table, finish, recording, summary

GRAVITY = 9.80665
rng = np.random.default_rng(7)


def oxford():
    with open(recording("pedometer", "oxford_truth.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            path = recording("pedometer", row["file"])
            yield row["file"], path, int(row["true_steps"]), int(row["published_app_steps"]), int(
                row["hardware_counter_steps(0=not recorded)"]
            )


def load(path):
    with gzip.open(path, "rt") as file:
        data = np.loadtxt(file, delimiter=",", usecols=(0, 1, 2, 3))
    return data[:, 0], data[:, 1:4]


def resampled(time, axes, rate):
    at = np.arange(time[0], time[-1], 1e9 / rate)
    return at, np.stack([np.interp(at, time, axes[:, axis]) for axis in range(axes.shape[1])], 1)


def turned(axes):
    angle = np.radians(50)
    about_x = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    about_z = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    return axes @ (about_x @ about_z).T


def count(time, axes, *options):
    names = ["time_ns", *(["a"] if axes.shape[1] == 1 else ["ax", "ay", "az"])]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "walk.csv")
        np.savetxt(path, np.column_stack([time, axes]), fmt=["%d"] + ["%.6f"] * axes.shape[1], delimiter=",")
        return summary(path, "steps", "--columns", ",".join(names), *options)["steps"]


def changes(time, axes):
    for rate in (20, 25, 33.3, 100, 200):
        yield f"{rate} Hz", resampled(time, axes, rate)
    yield "g", (time, axes / GRAVITY)
    yield "magnitude alone", (time, np.linalg.norm(axes, axis=1)[:, None])
    yield "turned axes", (time, turned(axes))
    yield "noise 0.3 m/s^2", (time, axes + rng.normal(0, 0.3, axes.shape))
    yield "noise 0.8 m/s^2", (time, axes + rng.normal(0, 0.8, axes.shape))
    yield "clipped at 2 g", (time, np.clip(axes, -2 * GRAVITY, 2 * GRAVITY))
    keep = rng.uniform(size=len(time)) > 0.1
    yield "every tenth lost", (time[keep], axes[keep])
    for factor in (0.8, 0.9, 1.1, 1.2):
        yield f"time by {factor}", (time * factor, axes)
    yield "backwards", (time, axes[::-1])


walks = list(oxford())
known = Table("walk at 50 Hz", "true", "ours", "error", "published app", "phone's counter")
errors = []
for name, path, truth, app, hardware in walks:
    steps = summary(path, "steps", "--columns", "time_ns,ax,ay,az")["steps"]
    error = 100 * abs(steps - truth) / truth
    errors.append(error)
    known.row(
        name[7:-12], truth, steps, f"{error:.1f} %", app, hardware or "-", target="<= 8 %", met=error <= 8
    )
known.row("mean", "", "", f"{np.mean(errors):.2f} %", "", "", target="<= 3 %", met=np.mean(errors) <= 3)
known.row("median", "", "", f"{np.median(errors):.2f} %", "", "", target="<= 2 %", met=np.median(errors) <= 2)

changed = Table("all walks, changed", "mean error", "worst")
by_change = {}
for _, path, truth, _, _ in walks:
    time, axes = load(path)
    for change, (at, values) in changes(time, axes):
        by_change.setdefault(change, []).append(100 * abs(count(at, values) - truth) / truth)
for change, values in by_change.items():
    met = np.mean(values) <= 3 and max(values) <= 8
    changed.row(change, f"{np.mean(values):.2f} %", f"{max(values):.1f} %", target="<= 3 %, <= 8 %", met=met)

others = Table("other recording", "true", "ours")
with open(recording("pedometer", "rieck_truth.csv"), encoding="utf-8") as file:
    for row in csv.DictReader(file):
        truth = int(row["true_steps"])
        path = recording("pedometer", row["file"])
        steps = summary(path, "steps", "--columns=-,a,-,-", "--rate", "25", "--acc-unit", "raw")["steps"]
        if truth:
            others.row(row["file"][:-4], truth, steps, target="<= 8 %", met=abs(steps - truth) <= 0.08 * truth)
        else:
            others.row(row["file"][:-4], truth, steps, target="<= 10", met=steps <= 10)
folder = recording("pedometer")
for name in sorted(os.listdir(folder)):
    if name.startswith("aosa"):
        steps = summary(os.path.join(folder, name), "steps", "--rate", "100")["steps"]
        others.row(name[:-4], 10, steps, target="handled before and after")
folder = recording("imu")
for name in sorted(os.listdir(folder)):
    if ".csv" in name:
        steps = summary(os.path.join(folder, name), "steps")["steps"]
        others.row(name.split(".")[0], 0, steps, target="<= 10", met=steps <= 10)

finish(known, changed, others)
