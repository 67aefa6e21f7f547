"""Holds discovery-schema.json and discovery-golden.json against the schemas of the Home Assistant that is installed.

    python schema.py"""
import asyncio
import importlib
import json
import tempfile
from pathlib import Path

import voluptuous as vol
from homeassistant.components.mqtt import schemas
from homeassistant.components.mqtt.config import MQTT_BASE_SCHEMA
from homeassistant.core import HomeAssistant
from homeassistant.helpers import frame

HERE = Path(__file__).resolve().parent


def plain(schema):
    """The part of a schema that names members."""
    while isinstance(schema, vol.All):
        schema = next(each for each in schema.validators if isinstance(each, (vol.Schema, vol.All)))
    return schema.schema


def members(*parts):
    """What parts of a schema require, and what they allow besides."""
    keys = {str(key): isinstance(key, vol.Required) for part in parts for key in plain(part)}
    return {name for name, required in keys.items() if required}, {name for name, required in keys.items() if not required}


def of_file(*parts):
    return tuple({name for part in parts for name in part[kind]} for kind in ("required", "optional"))


def compare(what, theirs, ours):
    for kind, their, our in zip(("required", "optional"), theirs, ours):
        assert their == our, f"{what}, {kind}: Home Assistant has {sorted(their - our)} more, the file has {sorted(our - their)} more"


async def main():
    # Templates are parsed for one, which does nothing.
    frame.async_setup(HomeAssistant(tempfile.gettempdir()))
    ours = json.loads((HERE / "discovery-schema.json").read_text())
    compare("message", members(schemas.DEVICE_DISCOVERY_SCHEMA), of_file(ours["message"]))
    compare("origin", members(schemas.MQTT_ORIGIN_INFO_SCHEMA), of_file(ours["origin"]))
    # Required are its identifiers by a function.
    device = members(schemas.MQTT_ENTITY_DEVICE_INFO_SCHEMA)
    compare("device", ({"identifiers"}, device[1] - {"identifiers"}), of_file(ours["device"]))
    for name, part in ours["platforms"].items():
        if name == "light":
            # It has several schemas, and what is listed is a part of the basic one: colours are not.
            basic = importlib.import_module("homeassistant.components.mqtt.light.schema_basic").DISCOVERY_SCHEMA_BASIC
            required, optional = members(basic)
            our = of_file(ours["component"], part)
            assert required <= our[0] and our[0] | our[1] <= required | optional | {"platform", "unique_id"}, name
            continue
        module = importlib.import_module(f"homeassistant.components.mqtt.{name}")
        required, optional = members(module.DISCOVERY_SCHEMA)
        both = required | {"platform", "unique_id"}, optional - {"unique_id"}
        compare(name, both, of_file(ours["component"], part))
    golden = json.loads((HERE / "discovery-golden.json").read_text())
    schemas.DEVICE_DISCOVERY_SCHEMA(golden)
    for name, component in golden["components"].items():
        if len(component) > 1:
            module = importlib.import_module(f"homeassistant.components.mqtt.{component['platform']}")
            rest = {key: value for key, value in component.items() if key != "platform"}
            schema = module.DISCOVERY_SCHEMA
            schema(rest)
            assert set(rest) <= set().union(*members(schema)), f"{name}: {set(rest) - set().union(*members(schema))}"
    assert set(map(str, MQTT_BASE_SCHEMA.schema)) <= set(ours["component"]["optional"])
    print(f"✔ the schema of discovery is Home Assistant's: {len(ours['platforms'])} platforms, {len(golden['components'])} components")


asyncio.run(main())
