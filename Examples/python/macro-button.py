#!/usr/bin/env python3
# A program beside the macros: it answers the handler «step», which moves a value, and prints each new value, whoever set
# it. A macro reaches it like every other command:  () => makeCall('step', 2)
# With python3-quickconnect, or from the sources:  PYTHONPATH=clients/python python3 Examples/python/macro-button.py
import quickconnect

with quickconnect.Client() as device:

    def step(data, call):
        """Moves the inner ring, and answers where it is then: the daemon keeps it between 0 and 10."""
        size = call.parameters[0] if call.parameters else 1
        if not isinstance(size, (int, float)):
            raise quickconnect.Error("invalid", "step takes a number")
        return device.call("innerProgress", device.call("innerProgress") + size)

    values = device.events("innerProgress")
    device.handle("step", step)
    for event in values:
        print(f"the inner ring is at {event.data}", flush=True)
