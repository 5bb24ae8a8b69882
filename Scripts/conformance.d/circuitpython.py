"""Drives Adafruit's CircuitPython client under CPython against whatever io.adafruit.com is in here."""
import json
import os
import socket
import ssl
import sys
import time

import adafruit_minimqtt.adafruit_minimqtt as MQTT
import adafruit_requests
from adafruit_io.adafruit_io import IO_HTTP, IO_MQTT
from adafruit_io.adafruit_io_errors import AdafruitIO_RequestError, AdafruitIO_ThrottleError

USER = os.environ["ADAFRUIT_IO_USERNAME"]
KEY = os.environ["ADAFRUIT_IO_KEY"]
checks = 0


def check(promise, truth):
    """Counts a promise, or ends with it."""
    global checks
    if not truth:
        sys.exit(f"circuitpython: FAILED: {promise}")
    checks += 1
    print(f"{promise} ... ok")


def refused(what, kind=AdafruitIO_RequestError):
    """Whether a call is refused by the service."""
    try:
        what()
    except kind:
        return True
    return False


def http():
    """REST: feeds, data, groups, time."""
    io = IO_HTTP(USER, KEY, adafruit_requests.Session(socket, ssl.create_default_context()))
    for feed in ("circuit-temperature", "circuit-place"):
        try:
            io.delete_feed(feed)
        except AdafruitIO_RequestError:
            pass
    check("a feed that is not there is refused", refused(lambda: io.get_feed("circuit-temperature")))
    made = io.create_and_get_feed("circuit-temperature", feed_desc="made by the test")
    check("a feed is made and read back", made["key"] == "circuit-temperature" and made["description"] == "made by the test")
    check("an empty feed has no last value", refused(lambda: io.receive_data("circuit-temperature")))
    io.send_data("circuit-temperature", 21.123456, precision=2)
    last = io.receive_data("circuit-temperature")
    check("a value is sent with two decimals and received", last["value"] == "21.12")
    io.send_data("circuit-temperature", 22, {"lat": 40.5, "lon": -3.25, "ele": 650, "created_at": None})
    last = io.receive_data("circuit-temperature")
    check("a value is sent with its place", (last["lat"], last["lon"], last["ele"]) == (40.5, -3.25, 650))
    io.send_batch_data("circuit-temperature", [{"value": 1}, {"value": 2}, {"value": 3}])
    check("a batch is sent", len(io.receive_all_data("circuit-temperature")) == 5)
    some = io.receive_n_data("circuit-temperature", 2)
    check("the newest two are received", [point["value"] for point in some] == ["3", "2"])
    check("the details count", io.get_feed("circuit-temperature", detailed=True)["details"]["data"]["count"] == 5)
    io.delete_data("circuit-temperature", some[0]["id"])
    check("a point is deleted", io.receive_data("circuit-temperature")["value"] == "2")
    try:
        io.delete_group("circuit-weather")
    except AdafruitIO_RequestError:
        pass
    group = io.create_new_group("circuit-weather", "made by the test")
    check("a group is made", group["key"] == "circuit-weather" and group["description"] == "made by the test")
    feed = io.create_feed_in_group("circuit-weather", "humidity")
    check("a feed is made in the group", feed["key"] == "circuit-weather.humidity")
    io.add_feed_to_group("circuit-weather", "circuit-temperature")
    check("a feed is added to the group", len(io.get_group("circuit-weather")["feeds"]) == 2)
    io.send_group_data(
        "circuit-weather", [{"key": "humidity", "value": 40}, {"key": "circuit-temperature", "value": 20}],
        {"lat": 1, "lon": 2, "ele": 3},
    )
    last = io.receive_data("circuit-weather.humidity")
    check("values are sent to a group", last["value"] == "40" and last["ele"] == 3)
    now = io.receive_time("UTC")
    check("the time is received", abs(time.mktime(now) - time.mktime(time.gmtime())) < 120)
    check("a wrong key is refused", refused(lambda: IO_HTTP(USER, "wrong", io._http).get_feed("circuit-temperature")))


class Sockets:
    """CPython's sockets as a pool of their own: the library keeps one connection a pool and address."""

    def __getattr__(self, name):
        return getattr(socket, name)


class Inbox:
    """A connected client with what it has heard."""

    def __init__(self):
        context = ssl.create_default_context()
        self.messages = []
        self.subscribed = []
        self.client = MQTT.MQTT(
            broker="io.adafruit.com", port=8883, username=USER, password=KEY, socket_pool=Sockets(),
            ssl_context=context, is_ssl=True, socket_timeout=0.2, recv_timeout=5, connect_retries=1,
        )
        self.io = IO_MQTT(self.client)
        self.io.on_message = lambda client, topic, message: self.messages.append((topic, message))
        self.io.on_subscribe = lambda client, data, topic, qos: self.subscribed.append(topic)
        self.io.connect()

    def hears(self, wanted, seconds=10):
        """Loops until a message for which `wanted` is true has come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(wanted(topic, message) for topic, message in self.messages):
                return True
            self.io.loop(0.25)
        return False


def mqtt():
    """MQTT: publish, subscribe, groups, get, throttle, time."""
    inbox = Inbox()
    io = inbox.io
    check("a client connects over TLS", io.is_connected)
    io.subscribe("circuit-temperature")
    check("a feed is subscribed to", inbox.subscribed == [f"{USER}/f/circuit-temperature"])
    io.publish("circuit-temperature", 23.5)
    check("a published value comes back", inbox.hears(lambda t, m: (t, m) == ("circuit-temperature", "23.5")))
    io.subscribe("circuit-place")
    io.publish("circuit-place", 42, "40.726190, -74.005334, -6")
    check("a value with a place creates its feed", inbox.hears(lambda t, m: (t, m) == ("circuit-place", "42")))
    inbox.messages.clear()
    io.get("circuit-temperature")
    check("get brings the last value", inbox.hears(lambda t, m: (t, m) == ("circuit-temperature", "23.5")))

    other = Inbox()
    other.io.subscribe("circuit-temperature")
    io.get("circuit-temperature")
    inbox.messages.clear()
    io.publish("circuit-temperature", "after")
    check("get answers nobody else", other.hears(lambda t, m: m == "after") and other.messages[0][1] == "after")
    other.io.disconnect()

    # The library puts a group's message on one path with a feed's when it comes by the short topic.
    io.subscribe(group_key="circuit-weather")
    io.subscribe("circuit-weather.humidity")
    io._client.publish(f"{USER}/g/circuit-weather", json.dumps({"feeds": {"humidity": 41}}))
    check("a group's publish reaches its feed", inbox.hears(lambda t, m: (t, m) == ("circuit-weather.humidity", "41")))
    check(
        "a group's subscriber hears of the feed, values as strings",
        inbox.hears(lambda t, m: t == "circuit-weather" and json.loads(m) == {"feeds": {"humidity": "41"}}),
    )
    io.unsubscribe("circuit-weather.humidity")
    inbox.messages.clear()
    io.publish("circuit-weather.humidity", 43)
    check("a group hears of its feed's publish", inbox.hears(lambda t, m: t == "circuit-weather" and '"43"' in m))
    check("nothing comes after unsubscribing", all(t != "circuit-weather.humidity" for t, _ in inbox.messages))

    io.subscribe_to_time("seconds")
    io.subscribe_to_time("iso")
    check("the seconds come", inbox.hears(lambda t, m: t == "seconds" and abs(int(m) - time.time()) < 5))
    check("the time comes as ISO 8601", inbox.hears(lambda t, m: t == "ISO-8601" and m.endswith("Z")))
    io.unsubscribe_from_time("seconds")
    io.unsubscribe_from_time("iso")

    io.subscribe_to_errors()
    io.subscribe_to_throttling()

    def flood():
        for number in range(1100):
            io._client.publish(f"{USER}/f/circuit-temperature", number)
            if number % 50 == 49:
                io.loop(0.25)
        inbox.hears(lambda t, m: False, 5)

    check("publishing too much brings a throttle message", refused(flood, AdafruitIO_ThrottleError))
    io.disconnect()


http()
mqtt()
print(f"circuitpython: {checks} promises kept")
