"""Attitude on cuts of BROAD with optical truth, beside VQF, Madgwick, Mahony and imufusion, all in this run."""

import glob
import gzip
import json
import os
import tempfile

import imufusion
import numpy as np
import vqf
from common import Table, finish, recording, replay
from peers import madgwick, mahony

RATE = 285.714285714


def multiply(a, b):
    (w, x, y, z), (e, f, g, h) = a.T, b.T
    return np.stack(
        [
            w * e - x * f - y * g - z * h,
            w * f + x * e + y * h - z * g,
            w * g - x * h + y * e + z * f,
            w * h + x * g - y * f + z * e,
        ],
        1,
    )


def rmse(estimate, truth, moving):
    """Total, heading and inclination in degrees: the metrics of BROAD."""
    error = multiply(estimate, truth * [1, -1, -1, -1])[moving]
    w, _, _, z = np.abs(error).T
    angles = (
        2 * np.arccos(np.clip(w, 0, 1)),
        2 * np.arctan2(z, w),
        2 * np.arccos(np.clip(np.hypot(w, z), 0, 1)),
    )
    return [float(np.sqrt(np.mean(np.degrees(angle) ** 2))) for angle in angles]


def ours(path, time, *options):
    samples = replay(path, "attitude", "--option", "frame=magnetic", *options)[0].get("attitude", [])
    given = [sample for sample in samples if sample["qw"] is not None]
    quaternions = np.full((len(time), 4), np.nan)
    place = np.searchsorted(time, np.array([sample["time_ns"] for sample in given]) / 1e9)
    place = np.clip(place, 1, len(time) - 1)
    stamps = np.array([sample["time_ns"] for sample in given]) / 1e9
    place -= np.abs(time[place - 1] - stamps) < np.abs(time[place] - stamps)
    quaternions[place] = [[sample[key] for key in ("qw", "qx", "qy", "qz")] for sample in given]
    return quaternions


def fusion(rates, accelerations, fields):
    settings = imufusion.AhrsSettings()
    settings.convention = imufusion.CONVENTION_ENU
    settings.sample_rate = RATE
    ahrs = imufusion.Ahrs()
    ahrs.set_settings(settings)
    out = []
    for rate, acceleration, field in zip(np.degrees(rates), accelerations / 9.80665, fields):
        ahrs.update(rate, acceleration, field)
        out.append(ahrs.get_quaternion())
    return np.array(out)


def changed(data):
    """The same movement as other sensors would tell it."""
    yield "as it is", data, []
    for every in (2, 3, 5):
        yield f"{RATE / every:.0f} Hz", data[::every], []
    noisy = data.copy()
    rng = np.random.default_rng(5)
    noisy[:, 1:4] += rng.normal(0, np.radians(0.3), noisy[:, 1:4].shape)
    noisy[:, 4:7] += rng.normal(0, 0.15, noisy[:, 4:7].shape)
    noisy[:, 7:10] += rng.normal(0, 0.5, noisy[:, 7:10].shape)
    yield "noise 0.3 deg/s, 0.15 m/s^2, 0.5 uT", noisy, []
    biased = data.copy()
    biased[:, 1:4] += np.radians([0.8, -0.8, 0.8])
    yield "gyroscope off by 0.8 deg/s on each axis", biased, []
    in_g = data.copy()
    in_g[:, 4:7] /= 9.80665
    yield "accelerations in g, not said", in_g, []


table = Table("cut of BROAD", "filter", "total", "heading", "inclination")
variants = Table("cut of BROAD", "changed", "total", "inclination")
for path in sorted(glob.glob(recording("imu", "broad_*.csv.gz"))):
    name = os.path.basename(path)[6:-11]
    with gzip.open(path, "rt") as file:
        data = np.genfromtxt(file, delimiter=",", skip_header=2)
    time, rates, accelerations, fields, truth = data[:, 0], data[:, 1:4], data[:, 4:7], data[:, 7:10], data[:, 10:14]
    moving = (data[:, 14] == 1) & np.isfinite(truth).all(1)
    limit = 8 if "magnet" in name else 5

    estimate = ours(path, time)
    known = np.isfinite(estimate).all(1)
    share = float(known[moving].mean())
    mine = rmse(estimate, truth, moving & known)
    peers = {
        "VQF": vqf.VQF(1 / RATE).updateBatch(*(np.ascontiguousarray(part) for part in (rates, accelerations, fields)))[
            "quat9D"
        ],
        "Madgwick": madgwick(rates, accelerations, fields, 1 / RATE),
        "Mahony": mahony(rates, accelerations, fields, 1 / RATE),
        "imufusion": fusion(rates, accelerations, fields),
    }
    results = {peer: rmse(quaternions, truth, moving) for peer, quaternions in peers.items()}
    best = min(results["Madgwick"][0], results["Mahony"][0])
    shown = [f"{value:.2f}" for value in mine]
    met = mine[2] <= 1 and mine[0] <= limit and mine[0] < best and share > 0.99
    table.row(
        name, "feedbridge", *shown, target=f"total <= {limit}, inclination <= 1, below Madgwick and Mahony", met=met
    )
    for peer, values in results.items():
        table.row("", peer, *(f"{value:.2f}" for value in values))

    for change, rows, options in changed(data):
        with tempfile.TemporaryDirectory() as folder:
            changed_path = os.path.join(folder, "cut.csv")
            np.savetxt(changed_path, rows[:, :10], fmt="%.6f", delimiter=",", comments="",
                       header="t_s,gyr_x,gyr_y,gyr_z,acc_x,acc_y,acc_z,mag_x,mag_y,mag_z")
            estimate = ours(changed_path, rows[:, 0], *options)
        part = (rows[:, 14] == 1) & np.isfinite(rows[:, 10:14]).all(1)
        known = np.isfinite(estimate).all(1)
        values = rmse(estimate, rows[:, 10:14], part & known)
        met = values[0] <= limit and values[2] <= 1.5 and known[part].mean() > 0.99
        variants.row(
            name, change, f"{values[0]:.2f}", f"{values[2]:.2f}",
            target=f"total <= {limit}, inclination <= 1.5", met=met,
        )

xio = Table("xio, time", "imufusion roll, pitch", "ours", "turn since the start, imufusion", "ours")
path = recording("imu", "xio_fusion_sensor_data_first2800.csv")
samples = [sample for sample in replay(path, "attitude")[0]["attitude"] if sample["qw"] is not None]
stamps = np.array([sample["time_ns"] for sample in samples]) / 1e9
with open(recording("imu", "xio_fusion_expected_9d.json"), encoding="utf-8") as file:
    expected = json.load(file)
first = None
for entry in expected:
    sample = samples[int(np.argmin(np.abs(stamps - entry["t"])))]
    roll, pitch, yaw = (float(np.degrees(sample[key])) for key in ("roll", "pitch", "yaw"))
    right = entry["euler_deg_roll_pitch_yaw"]
    first = first or (right[2], yaw)
    off = max(abs(roll - right[0]), abs(pitch - right[1]), abs((yaw - first[1]) - (right[2] - first[0])))
    xio.row(
        f"{entry['t']:.1f} s", f"{right[0]:.1f}, {right[1]:.1f}", f"{roll:.1f}, {pitch:.1f}",
        f"{right[2] - first[0]:.1f}", f"{yaw - first[1]:.1f}", target="within 5 degrees", met=off <= 5,
    )

finish(table, variants, xio)
