"""Distances of tracks beside gpxpy, standing with noise, and what a geofence makes of a phone at rest."""

import json
import math
import os
import tempfile

import gpxpy
import numpy as np
from common import Table, finish, recording, summary

ORIGIN = (47.0, 8.0)
METRES_NORTH = 111_174.0
METRES_EAST = 76_056.0


def peer(path):
    """Metres, metres up and down as gpxpy has them, and the number of points."""
    with open(path, encoding="utf-8-sig") as file:
        gpx = gpxpy.parse(file)
    up, down = gpx.get_uphill_downhill()
    return gpx.length_2d(), up, down, gpx.get_track_points_no()


def metres(number):
    return f"{number:.1f}"


tracks = Table("track", "points", "gpxpy, m", "ours, m", "off", "up, gpxpy", "up, ours")
folder = recording("gpx")
for name in sorted(os.listdir(folder)):
    if not name.endswith(".gpx"):
        continue
    length, up, _, points = peer(os.path.join(folder, name))
    if points < 2:
        continue
    ours = summary(os.path.join(folder, name), "run")
    off = abs(ours["distance_m"] - length) / length
    tracks.row(
        name, points, metres(length), metres(ours["distance_m"]), f"{100 * off:.2f} %", metres(up),
        metres(ours["ascent_m"]), target="1 %", met=off <= 0.01,
    )


def walk(phases, noise=0.0, drift=0.0, doppler=None, interval=1.0, seed=0):
    """A walk to the north-east with white noise, and noise that wanders with a time constant of 20 s."""
    rng = np.random.default_rng(seed)
    rows = []
    second, way = 0.0, 0.0
    wander = np.zeros(2)
    keep = math.exp(-interval / 20)
    for duration, speed in phases:
        for _ in range(int(duration / interval)):
            second += interval
            way += speed * interval
            wander = keep * wander + drift * math.sqrt(1 - keep * keep) * rng.normal(size=2)
            east, north = way / math.sqrt(2) + wander + noise * rng.normal(size=2)
            rows.append(
                (1_600_000_000 + second, ORIGIN[0] + north / METRES_NORTH, ORIGIN[1] + east / METRES_EAST,
                 "" if doppler is None else abs(speed + doppler * rng.normal()))
            )
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "walk.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("time_s,lat,lon,speed\n")
            for time, lat, lon, speed in rows:
                file.write(f"{time:.3f},{lat:.9f},{lon:.9f},{speed}\n")
        return summary(path, "run")


standing = Table("ten minutes of standing", "runs", "worst, m")
for name, options in {
    "3 m of white noise": dict(noise=3),
    "3 m that wander": dict(drift=3),
    "3 m of white noise, with speed": dict(noise=3, doppler=0.2),
    "3 m of white noise, with a speed made of it": dict(noise=3, doppler=4),
    "3 m of white noise, every 5 s": dict(noise=3, interval=5),
}.items():
    worst = max(walk([(600, 0)], seed=seed, **options)["distance_m"] for seed in range(10))
    standing.row(name, 10, metres(worst), target="5 m", met=worst <= 5)

walking = Table("840 m of walking with a rest of ten minutes", "runs", "shortest, m", "longest, m")
for name, options in {
    "0.1 m of noise": dict(noise=0.1),
    "3 m of white noise": dict(noise=3),
    "3 m that wander": dict(drift=3, noise=0.2),
    "3 m of white noise, with speed": dict(noise=3, doppler=0.2),
}.items():
    found = [
        walk([(300, 1.4), (600, 0), (300, 1.4)], seed=seed, **options)["distance_m"] for seed in range(10)
    ]
    walking.row(name, 10, metres(min(found)), metres(max(found)))


def fence():
    """The distances that a phone recorded, as places north of the middle."""
    with open(recording("geofence", "tracelet294_real_flap.jsonl"), encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "flap.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("time_s,lat,lon,accuracy\n")
            for event in events:
                if "t" not in event:
                    continue
                hours, minutes, seconds = (int(part) for part in event["t"].split(":"))
                time = 1_600_000_000 + hours * 3600 + minutes * 60 + seconds
                lat = ORIGIN[0] + event["dist_m"] / METRES_NORTH
                file.write(f"{time},{lat:.9f},{ORIGIN[1]},{event['acc_m'] or ''}\n")
        return summary(path, "geofence", "--option", f"fence=home,{ORIGIN[0]},{ORIGIN[1]},50")


fences = Table("fence", "enters", "leaves")
flap = fence()
fences.row("a phone at rest that flaps", flap["enters"], flap["leaves"], target="1 and 0",
           met=flap["enters"] == 1 and flap["leaves"] == 0)

finish(tracks, standing, walking, fences)
