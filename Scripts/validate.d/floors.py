"""Floors in made recordings: stairs, weather, noise, lifts and doors. No labelled recording of others was found."""

import os
import tempfile

import numpy as np
from common import Table, finish, summary

ACCELERATION_RATE = 25
rng = np.random.default_rng(11)


class Scene:
    """A person's way: heights and whether they walk, piece by piece."""

    def __init__(self):
        self.height = [0.0]
        self.walking = []

    def piece(self, seconds, rate=0.0, walking=True):
        count = int(seconds * ACCELERATION_RATE)
        for _ in range(count):
            self.height.append(self.height[-1] + rate / ACCELERATION_RATE)
            self.walking.append(walking)
        return self

    def stairs(self, floors, floor=3.0, rate=0.3, landing=2.0):
        for _ in range(abs(floors)):
            self.piece(floor / rate, rate * np.sign(floors)).piece(landing)
        return self

    def door(self, metres, seconds):
        """A jump of pressure, there and back, while walking."""
        start = len(self.walking)
        self.piece(seconds)
        for place in range(start, len(self.walking)):
            self.height[place] += metres
        return self

    def floors(self, noise=0.3, drift=1.0, step_rate=1.7, pressure_rate=5):
        height = np.array(self.height[:-1])
        walking = np.array(self.walking)
        time = np.arange(len(height)) / ACCELERATION_RATE
        phase = 2 * np.pi * step_rate * time + rng.normal(0, 0.02, len(time)).cumsum()
        steps = 2.2 * np.sin(phase) + 0.9 * np.sin(2 * phase + 0.7) + 0.6 * np.sin(phase / 2)
        magnitude = 9.81 + np.where(walking, steps, 0) + rng.normal(0, 0.15, len(time))
        measured = height + rng.normal(0, noise, len(time))
        pressure = 1013.25 * (1 - measured / 44330.77) ** (1 / 0.190263) + drift * time / 3600
        every = ACCELERATION_RATE // pressure_rate
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "floors.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("time_s,a,pressure\n")
                for place, moment in enumerate(time):
                    there = f"{pressure[place]:.4f}" if place % every == 0 else ""
                    file.write(f"{1000 + moment:.3f},{magnitude[place]:.4f},{there}\n")
            result = summary(path, "floors")
        return result["floors_ascended"], result["floors_descended"]


table = Table("way", "true", "ours")


def check(name, truth, scene, **options):
    found = scene.floors(**options)
    table.row(name, f"{truth[0]} up, {truth[1]} down", f"{found[0]} up, {found[1]} down", target="exact",
              met=found == truth)


for number in range(1, 11):
    check(f"{number} up", (number, 0), Scene().piece(40).stairs(number).piece(40))
for number in (1, 2, 5, 10):
    check(f"{number} down", (0, number), Scene().piece(40).stairs(-number, rate=0.4).piece(40), drift=-1.0)
check("3 up, a walk, 3 down", (3, 3), Scene().piece(40).stairs(3).piece(120).stairs(-3).piece(40))
check("2 up at a run", (2, 0), Scene().piece(40).stairs(2, rate=0.6, landing=1).piece(40), step_rate=2.5)
check("3 up with floors of 2.8 m", (3, 0), Scene().piece(40).stairs(3, floor=2.8).piece(40))
check("4 up with floors of 3.2 m", (4, 0), Scene().piece(40).stairs(4, floor=3.2).piece(40))
check("lift, 8 floors up, standing", (0, 0), Scene().piece(40).piece(5, 0, False).piece(24, 1, False).piece(30))
check("slow lift, 4 floors up, standing", (0, 0), Scene().piece(40).piece(5, 0, False).piece(24, 0.5, False).piece(30))
check("lift, 2 floors up, in and out at once", (0, 0), Scene().piece(40).piece(2, 0, False).piece(10, 0.6, False).piece(40))
check("lift down and a walk", (0, 0), Scene().piece(40).piece(4, 0, False).piece(15, -1.6, False).piece(60))
check("an hour still, 2 hPa of weather", (0, 0), Scene().piece(3600, 0, False), drift=2.0)
check("an hour of walking, 1 hPa of weather", (0, 0), Scene().piece(3600))
check("doors: 4 m for 3 s, 2 m for 1 s", (0, 0),
      Scene().piece(40).door(4, 3).piece(20).door(-4, 2).piece(20).door(2, 1).piece(40))
check("a door that stays open: 4 m for a minute", (0, 0), Scene().piece(40).door(4, 60).piece(60))

for seed in range(5):
    rng = np.random.default_rng(100 + seed)
    check(f"6 up, 2 down, pressure once a second, {seed + 1}", (6, 2),
          Scene().piece(60).stairs(6, rate=0.25).piece(90).stairs(-2).piece(60), pressure_rate=1)

finish(table)
