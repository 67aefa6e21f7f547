"""What the servers are asked, and what they must answer, byte for byte."""

import random
import urllib.parse


class Workload:
    """Requests and their replies. `{id}` stands for the call's number."""

    def __init__(self, name, pairs, any_order=False):
        self.name = name
        self.pairs = pairs
        self.any_order = any_order

    def text(self):
        """The file of templates that load.c reads."""
        return "".join(f"{escape(request)}\t{escape(reply)}\n" for request, reply in self.pairs)


def escape(text):
    return text.replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")


def encode(text):
    """As encodeURIComponent does."""
    return urllib.parse.quote(text, safe="!'()*-._~")


def url(command, message=None):
    middle = "" if message is None else f"&msg={encode(message)}"
    return (f"call?cmd={encode(command)}{middle}&id={{id}}\n", f"handleJSONRequest?cmd={encode(command)}&msg=null&id={{id}}\n")


def redis(words, reply):
    """A command in the array form, which costs Redis less than the inline form."""
    return (f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words), f"{reply}\r\n")


POST = Workload("post", [url("post", '["x",{"a":1}]')])
BRIDGE = Workload(
    "post, bridge form",
    [('{"handlerName":"post","data":["x",{"a":1}],"callbackId":"{id}"}\n', '{"responseId":"{id}","responseData":null}\n')],
)
PING = Workload("ping", [url("ping")])
PING_TURNED = Workload("ping, id first", [("call?id={id}&cmd=ping\n", url("ping")[1])])
PING_NULL = Workload("ping, msg=null", [("call?cmd=ping&id={id}&msg=null\n", url("ping")[1])])
TWICE = Workload("script", [("call?cmd=twice&msg=21&id={id}\n", "handleJSONRequest?cmd=twice&msg=42&id={id}\n")], any_order=True)

EMPTY_SCRIPT = Workload("empty script", [url("empty", '["run","empty"]')], any_order=True)
EMPTY_MACRO = Workload("empty macro", [url("macro", '["run","empty"]')], any_order=True)

REDIS_SET = Workload("SET", [redis(["SET", "key", "value"], "+OK")])
REDIS_PING = Workload("PING", [redis(["PING"], "+PONG")])

LUA = "return ARGV[1] * 2"


def evalsha(digest):
    return Workload("EVALSHA", [redis(["EVALSHA", digest, "0", "21"], ":42")])


# Command names, as many owners of many devices would choose them.

PLACES = """kitchen hall garden garage cellar attic bath office lobby stage roof porch studio corridor nursery pantry
stairs terrace workshop gate""".split()
THINGS = """lamp door valve pump fan heater blind camera speaker microphone sensor motor relay switch display sign gate
lock alarm siren thermostat radiator projector screen printer scanner robot arm gripper conveyor elevator charger battery
meter router antenna drone tank boiler oven freezer washer dryer shutter awning fountain sprinkler doorbell""".split()
DEEDS = """open close start stop pause resume toggle dim brighten mute unmute reset calibrate lock unlock read write set
get show hide raise lower turn tilt pan zoom focus record play arm disarm measure report watch forget""".split()
QUALITIES = """brightness colour volume position speed angle temperature pressure humidity level state mode name label
limit delay duration frequency voltage current power energy""".split()
ELSEWHERE = ["lüfter.küche", "tür.öffnen", "porte.fermée", "señal.roja", "лампа.кухня", "照明"]


def command_names(count):
    """That many different names. They are the same at each run; a larger count begins with the names of a smaller one."""
    chance = random.Random(2008)
    names = {}
    while len(names) < count:
        place, thing, deed, quality = (chance.choice(words) for words in (PLACES, THINGS, DEEDS, QUALITIES))
        number = chance.randrange(1, 400)
        name = chance.choice(
            [
                f"{deed}{place.title()}{thing.title()}{quality.title()}",
                f"{deed}{thing.title()}{number}",
                f"{place}.{thing}.{deed}",
                f"{place}.{thing}{number}.{quality}",
                f"{place}-{thing}-{number}-{deed}",
                f"{deed}_{quality}_of_{place}_{thing}",
                f"building{number}/{place}/{thing}/{quality}",
                f"{chance.choice(ELSEWHERE)}.{deed}.{number}",
            ]
        )
        names[name] = None
    return list(names)


def mappings(names):
    return "".join(f'"{name}":\n  view: []\n' for name in names)


def near_names(names):
    """Names that are one typing error away from a real one."""
    return [names[0][:-1], names[1][:3] + "x" + names[1][3:], names[2][1:], names[3][:4] + names[3][5:] + "s"]


FAR_NAMES = ["zzqqxxjjvv", "thereIsNoSuchCommandAnywhereInThisHouse", "q", "9.9.9.9.9.9.9.9.9.9", "Ωμέγα", "x" * 100]
