"""The story that the links have to survive, in real time."""

import signal
import time

from world import Bridge, Gate, Simulator, Watch, say

FEED = "uptime"
RULES = f"""
[[sampler]]
kind = "host"
every = "500 ms"
always = true
[[rule]]
stream = "host.uptime"
field = "seconds"
feed = "{FEED}"
every = "3 s"
always = true
"""


def tell(programs, place):
    feedbridge, service = programs
    simulator = Simulator(service, place, 120)
    gate = Gate(simulator.mqtt_port)
    bridge = Bridge(feedbridge, place, simulator, gate.port, "plan = 120", RULES)
    watch = Watch(simulator)
    problems = []

    def check(holds, what):
        say(("ok: " if holds else "DOES NOT HOLD: ") + what)
        if not holds:
            problems.append(what)

    def expect(what, condition, seconds):
        status = bridge.until(what, condition, seconds)
        say(f"{what}: link {status['link']}, reason {status['reason']}, next try {status['next_try']}")
        return status

    try:
        bridge.run("dashboard", "create", "--name", "soak")
        watch.start()
        bridge.start()
        expect("MQTT is up", lambda s: s["link"] == "mqtt" and s["reason"] == "ok", 120)
        time.sleep(10)

        say("the MQTT port is closed for two minutes")
        closed = time.monotonic()
        gate.close()
        expect("REST takes over and says why MQTT is down", lambda s: s["link"] == "rest" and s["reason"] == "refused", 90)
        check(time.monotonic() - closed > 25, "not before fallback_after")
        before = len(simulator.points(FEED))
        check(simulator.toggle("ON"), "the dashboard's toggle is flipped to ON")
        expect("the toggle starts the recording over REST", lambda s: s["recording"], 60)
        check(simulator.toggle("OFF"), "the dashboard's toggle is flipped to OFF")
        expect("the toggle stops it", lambda s: not s["recording"], 60)
        time.sleep(max(0, closed + 120 - time.monotonic()))
        check(len(simulator.points(FEED)) >= before + 10, "points go on by REST")

        say("the port is open again")
        gate.open()
        # The back-off between two tries is at most 300 s.
        expect("MQTT takes over", lambda s: s["link"] == "mqtt" and s["reason"] == "ok", 400)
        time.sleep(15)

        say("a ban of 60 s")
        banned = time.monotonic()
        simulator.fault("ban:seconds=60")
        status = expect("the ban is known", lambda s: s["reason"] == "banned", 30)
        check(status["next_try"] is not None, "the status says when it is tried again")
        time.sleep(2)
        at_start = simulator.counters()
        while time.monotonic() < banned + 57:
            time.sleep(0.2)
        at_end = simulator.counters()
        silent = {name: at_end[name] - at_start[name] for name in ("publishes", "logins", "subscribes", "rest_requests")}
        check(not any(silent.values()), f"neither link sends anything during the ban: {silent}")
        expect("the ban is over", lambda s: s["reason"] == "ok" and s["link"] != "none", 120)
        time.sleep(15)

        say("a wrong key")
        simulator.write_key("aio_this_is_no_key", "bridge-key")
        bridge.process.send_signal(signal.SIGHUP)
        status = expect("the key is refused", lambda s: s["reason"] == "key-refused" and s["link"] == "none", 60)
        at_start = simulator.counters()
        time.sleep(45)
        at_end = simulator.counters()
        # Requests with a key that opens no account are on no account's list; log-ins are.
        check(at_end["logins"] - at_start["logins"] == 0, "it is not tried again and again")
        check(simulator.counters()["refused_logins"] <= 2, "at most two log-ins with it")

        say("the key is mended")
        simulator.write_key(simulator.key, "bridge-key")
        bridge.process.send_signal(signal.SIGHUP)
        expect("everything is well", lambda s: s["link"] == "mqtt" and s["reason"] == "ok", 400)
        bridge.write("")
        bridge.process.send_signal(signal.SIGHUP)
        expect("everything has left", lambda s: s["points"]["pending"] == 0, 400)

        books = bridge.books()
        points = simulator.points(FEED)
        values = [float(point["value"]) for point in points]
        boot = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        off = max(abs(point["created_epoch"] - boot - value) for point, value in zip(points, values))
        longest = max(after - before for before, after in zip(values, values[1:]))
        say(f"{books}; {len(points)} on the service, at most {off:.1f} s off, longest gap {longest:.1f} s")
        say(f"counters {watch.totals}")
        check(len(set(values)) == books["accepted"], "every accepted point is on the service")
        check(len(values) - len(set(values)) <= books["doubt"], "none stands there twice without being counted")
        check(books["refused"] == 0 and books["evicted"] == 0, "none was refused or evicted")
        check(values == sorted(values), "sorted by created_at they are in the order of their samples")
        check(off <= 7, "each has its own time, at most live_within off")
        check(watch.totals["bans"] <= 1, "no ban but the one of the story")
        check(bridge.stop() == 0, "it ends well")
        check(simulator.last("recording-status") == "stopped", "the status feed says stopped")
        return problems
    finally:
        watch.running = False
        for process in (bridge.process, simulator.process):
            if process and process.poll() is None:
                process.kill()
                process.wait()
