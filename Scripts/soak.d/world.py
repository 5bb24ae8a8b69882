"""Both programs on this machine, and hands that break them."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

USER = "ada"


def say(text):
    print(time.strftime("%H:%M:%S ", time.gmtime()) + text, flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Gate:
    """A port that can be closed and opened again, in front of another one."""

    def __init__(self, target):
        self.target = target
        self.port = free_port()
        self.listener = None
        self.connections = []
        self.lock = threading.Lock()
        self.open()

    def open(self):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(16)
        with self.lock:
            self.listener = listener
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    def close(self):
        with self.lock:
            listener, self.listener = self.listener, None
            connections, self.connections = self.connections, []
        if listener:
            # Closing alone does not wake the thread that waits in accept.
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for connection in connections:
            end(connection)

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                if self.listener is not listener:
                    end(client)
                    end(server)
                    return
                self.connections += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=carry, args=(source, sink), daemon=True).start()


def carry(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    end(source)
    end(sink)


def end(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(connection, method, path, body=None, headers=None):
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return answer.status, value


class Simulator:
    def __init__(self, program, folder, plan):
        self.program, self.folder, self.plan = program, folder, plan
        self.mqtt_port, self.http_port, self.control_port = free_port(), free_port(), free_port()
        self.key = "aio_" + os.urandom(16).hex()
        self.write_key(self.key)
        self.process = None
        self.start()

    def write_key(self, key, name="key"):
        path = os.path.join(self.folder, name)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(key)

    def start(self):
        arguments = [
            self.program, "--mqtt-port", str(self.mqtt_port), "--http-port", str(self.http_port),
            "--control-port", str(self.control_port), "--username", USER,
            "--key-file", os.path.join(self.folder, "key"), "--plan", str(self.plan),
            "--data", os.path.join(self.folder, "simulator.sqlite"),
        ]  # fmt: skip
        log = open(os.path.join(self.folder, "simulator.log"), "ab")
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=log)
        log.close()
        if not self.process.stdout.readline():
            raise RuntimeError("the simulator does not start: see " + self.folder)

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()

    def fault(self, text):
        return ask(self.control(), "POST", "/fault", text)

    def clear(self):
        return ask(self.control(), "DELETE", "/fault")

    def counters(self):
        return ask(self.control(), "GET", "/counters")[1][USER]

    def control(self):
        return http.client.HTTPConnection("127.0.0.1", self.control_port, timeout=30)

    def web(self):
        return http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=30)

    def toggle(self, word):
        """As the browser does it; false when the service takes nothing now."""
        status, state = ask(self.web(), "GET", f"/{USER}/dashboards/soak/state")
        if status != 200:
            return False
        feed = next(feed["id"] for feed in state["feeds"] if feed["key"] == "recording")
        body = json.dumps({"feed": feed, "value": word})
        headers = {"X-Dashboard-Secret": state["secret"], "Content-Type": "application/json"}
        return ask(self.web(), "POST", f"/{USER}/dashboards/soak/value", body, headers)[0] == 200

    def points(self, feed):
        """All points of a feed, the oldest first."""
        found, before = {}, ""
        while True:
            path = f"/api/v2/{USER}/feeds/{feed}/data?limit=1000" + before
            connection = self.web()
            connection.request("GET", path, headers={"X-AIO-Key": self.key})
            answer = connection.getresponse()
            page, link = json.loads(answer.read()), answer.headers.get("Link", "")
            connection.close()
            if answer.status == 404:
                return []
            new = [point for point in page if point["id"] not in found]
            for point in new:
                found[point["id"]] = point
            if not new or len(page) < 1000 or "before=" not in link:
                # Times are cut to the second there; within one, the list's order counts.
                return sorted(reversed(found.values()), key=lambda point: point["created_epoch"])
            before = "&before=" + link.split("before=")[-1].split(">")[0].split("&")[0]

    def last(self, feed):
        status, point = ask(self.web(), "GET", f"/api/v2/{USER}/feeds/{feed}/data/last", headers={"X-AIO-Key": self.key})
        return point.get("value") if status == 200 else None


class Bridge:
    def __init__(self, program, folder, simulator, mqtt_port, account, rules):
        self.program, self.folder = program, folder
        self.configuration = os.path.join(folder, "feedbridge.toml")
        self.key_file = os.path.join(folder, "bridge-key")
        self.simulator, self.mqtt_port, self.account = simulator, mqtt_port, account
        simulator.write_key(simulator.key, "bridge-key")
        self.write(rules)
        self.process = None
        self.starts = 0

    def write(self, rules):
        text = f"""name = "soak"
state = "{self.folder}/state"
[account]
username = "{USER}"
key_file = "{self.key_file}"
mqtt = "mqtt://127.0.0.1:{self.mqtt_port}"
rest = "http://127.0.0.1:{self.simulator.http_port}"
{self.account}
[recorder]
smallest_free = "1 MB"
{rules}
"""
        with open(os.open(self.configuration, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)

    def run(self, *arguments):
        command = [self.program, *arguments, "--config", self.configuration]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def start(self):
        log = open(os.path.join(self.folder, "feedbridge.log"), "ab")
        self.process = subprocess.Popen([self.program, "run", "--config", self.configuration], stderr=log)
        log.close()
        self.starts += 1

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait()

    def status(self):
        """What it says now; nothing while it starts or is away."""
        try:
            status, value = ask(UnixConnection(os.path.join(self.folder, "state/control.sock"), 30), "GET", "/status")
        except OSError:
            return None
        return value if status == 200 else None

    def books(self):
        return json.loads(self.run("outbox", "stats", "--json"))

    def resident(self):
        """KiB."""
        try:
            with open(f"/proc/{self.process.pid}/status") as file:
                return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
        except (OSError, StopIteration):
            return 0

    def until(self, what, condition, seconds):
        """Waits until the status is as wanted; the limit is a net for what never happens."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status = self.status()
            if status and condition(status):
                return status
            time.sleep(0.2)
        raise RuntimeError(f"waited {seconds} s in vain until {what}; the status is {json.dumps(self.status())}")


class Watch(threading.Thread):
    """Reads the simulator's counters each half second, also across its restarts."""

    def __init__(self, simulator):
        super().__init__(daemon=True)
        self.simulator = simulator
        self.lock = threading.Lock()
        self.totals = {}
        self.previous = {}
        self.samples = []
        self.running = True

    def run(self):
        while self.running:
            self.look()
            time.sleep(0.5)

    def look(self):
        try:
            counters = self.simulator.counters()
        except (OSError, ValueError, http.client.HTTPException, KeyError, TypeError):
            return
        with self.lock:
            for name, value in counters.items():
                before = self.previous.get(name, 0)
                # Lower than before: the simulator was started again.
                self.totals[name] = self.totals.get(name, 0) + (value - before if value >= before else value)
            self.previous = counters
            self.samples.append((time.monotonic(), self.totals["points"], self.totals["logins"]))

    def most(self, column, seconds):
        """The largest growth of a counter within a window."""
        with self.lock:
            samples = list(self.samples)
        most, first = 0, 0
        for index, sample in enumerate(samples):
            while samples[first][0] < sample[0] - seconds:
                first += 1
            most = max(most, sample[column] - samples[first][column])
        return most


def programs(root, folder):
    """Copies of both programs: a build in the meantime must not pull them away."""
    for product in ("feedbridge", "adafruit-io-simulator"):
        subprocess.run(["swift", "build", "--package-path", root, "--product", product], check=True, stdout=2)
    place = subprocess.run(
        ["swift", "build", "--package-path", root, "--show-bin-path"], check=True, capture_output=True, text=True
    ).stdout.strip()
    return tuple(
        shutil.copy2(os.path.join(place, product), folder) for product in ("feedbridge", "adafruit-io-simulator")
    )


def folder():
    # A short path: that of a socket holds at most 107 bytes.
    return tempfile.mkdtemp(prefix="feedbridge-soak-")
