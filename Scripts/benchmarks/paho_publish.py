"""Publishes COUNT small messages at QoS 1 with paho-mqtt, 20 in flight: paho_publish.py PORT COUNT."""

import sys
import threading

import paho.mqtt.client as mqtt

port, count = int(sys.argv[1]), int(sys.argv[2])
done = threading.Semaphore(0)
connected = threading.Event()
client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
client.max_inflight_messages_set(20)
client.max_queued_messages_set(0)
client.on_connect = lambda *_: connected.set()
client.on_publish = lambda *_: done.release()
client.connect("127.0.0.1", port)
client.loop_start()
connected.wait()
for number in range(count):
    client.publish("benchmark", f"message {number}", qos=1)
for _ in range(count):
    done.acquire()
client.disconnect()
client.loop_stop()
