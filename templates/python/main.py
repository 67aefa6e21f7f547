# Counts each NAMEPressed, plays a sound, and answers the command NAME.
import quickconnect

with quickconnect.Client(wait=True) as device:

    def greet(data, call):
        whom = (call.parameters or [None])[0] or "you"
        return f"Hello {whom}, the count is {device.value('NAMECount')}."

    presses = device.events("NAMEPressed")
    device.handle("NAME", greet)
    for press in presses:
        try:
            print(f"count: {device.add('NAMECount')}", flush=True)
            device.call("playSound", 0)
        except quickconnect.Error as error:  # without a sound card it still counts
            print(error, flush=True)
