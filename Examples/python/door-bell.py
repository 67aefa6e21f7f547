#!/usr/bin/env python3
# Plays a sound when somebody posts «doorbell», and answers the command «rings». With python3-quickconnect, or from the
# sources:  PYTHONPATH=clients/python python3 Examples/python/door-bell.py
import quickconnect

rings = 0
with quickconnect.Client() as device:
    device.handle("rings", lambda data, call: rings)
    for event in device.events("doorbell"):
        rings += 1
        print(f"somebody is at the {(event.data or {}).get('door', 'front')} door", flush=True)
        try:
            device.call("playSound", 0)
        except quickconnect.Error as error:  # without a sound card it still counts
            print(error, flush=True)
