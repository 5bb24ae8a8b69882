"""Shakes, faces and activity: on recordings of walks where nothing is shaken, and on made ones with known answers."""

import os
import tempfile

import numpy as np
from common import Table, finish, recording, replay

rng = np.random.default_rng(3)
RATE = 50


def run(derive, axes, speed=None, rate=RATE):
    time = 1000 + np.arange(len(axes)) / rate
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("time_s,ax,ay,az,lat,lon,speed\n")
            for place, (x, y, z) in enumerate(axes):
                where = f"47,8,{speed}" if speed is not None and place % rate == 0 else ",,"
                file.write(f"{time[place]:.4f},{x:.4f},{y:.4f},{z:.4f},{where}\n")
        return replay(path, derive)[0]


def still(seconds, up=(0, 0, 9.81), rate=RATE):
    return np.array(up) + rng.normal(0, 0.03, (int(seconds * rate), 3))


def shaken(seconds, strength=25, rate=RATE):
    time = np.arange(int(seconds * rate)) / rate
    return still(seconds, rate=rate) + np.outer(np.sign(np.sin(2 * np.pi * 4 * time)), [strength, 3, 0])


table = Table("recording", "expected", "ours")


def check(name, expected, found):
    table.row(name, ", ".join(expected), ", ".join(found), target="the same", met=list(expected) == list(found))


for rate in (25, 50, 100, 200):
    made = np.concatenate([still(3, rate=rate), shaken(1, rate=rate), still(3, rate=rate)])
    events = [sample["event"] for sample in run("shake", made, rate=rate).get("shake", [])]
    check(f"one shake at {rate} Hz", ["began", "ended"], events)
made = np.concatenate([still(3), shaken(10), still(3)])
check("a vibration of ten seconds", ["began", "cancelled"], [s["event"] for s in run("shake", made)["shake"]])
check("a steady pull", [], [s["event"] for s in run("shake", np.concatenate([still(3), still(3, (14, 0, 9.81))])).get("shake", [])])
for name in sorted(os.listdir(recording("pedometer"))):
    if name.startswith("oxford_user"):
        path = recording("pedometer", name)
        samples = replay(path, "shake", "--columns", "time_ns,ax,ay,az")[0]
        check(f"{name[7:-12]}: no shake", [], [sample["event"] for sample in samples.get("shake", [])])

faces = {
    "face_up": (0, 0, 9.81), "face_down": (0, 0, -9.81), "portrait": (0, 9.81, 0),
    "portrait_upside_down": (0, -9.81, 0), "landscape_left": (9.81, 0, 0), "landscape_right": (-9.81, 0, 0),
}
made = np.concatenate([still(2, up) for up in faces.values()])
check("six faces", list(faces), [sample["face"] for sample in run("orientation", made)["orientation"]])
angles = np.radians(45 + 8 * np.sin(np.arange(500) / 10))
made = np.concatenate([still(2), np.stack([0 * angles, np.sin(angles), np.cos(angles)], 1) * 9.81])
check("between two faces", ["face_up"], [sample["face"] for sample in run("orientation", made)["orientation"]])


def main_class(samples):
    samples = samples.get("activity", [])
    spans = {}
    for one, other in zip(samples, samples[1:]):
        spans[one["class"]] = spans.get(one["class"], 0) + other["time_ns"] - one["time_ns"]
    return [max(spans, key=spans.get)] if spans else ["nothing"]


time = np.arange(60 * RATE) / RATE
side = np.sin(2 * np.pi * 1.4 * time)
made = np.outer(np.where(side > 0, 1, 0.92) * side**2 * 24 - 2, [0, 0.2, 0.98]) + rng.normal(0, 0.6, (len(time), 3))
check("a minute of running, 2.8 steps a second", ["running"], main_class(run("activity", made)))
check("a minute still", ["still"], main_class(run("activity", still(60))))
check("a minute driven at 15 m/s", ["vehicle"],
      main_class(run("activity", still(60) + rng.normal(0, 0.5, (60 * RATE, 3)), speed=15)))
for name in sorted(os.listdir(recording("pedometer"))):
    path = recording("pedometer", name)
    if name.startswith("oxford_user"):
        samples = replay(path, "activity", "--columns", "time_ns,ax,ay,az")[0]
        check(f"{name[7:-12]}: activity", ["walking"], main_class(samples))

finish(table)
