"""A phone with two accelerators, and the log of a run on it."""

from __future__ import annotations

from delegate_sim.delegates.nnapi.device_profile import DevicesProfile, ProfiledDevice
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.nnapi_runtime.devices import Costs, DeviceCost
from delegate_sim.nnapi_runtime.types import OperationType
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.target import Target
from fixtures.runtime_logs import runtime_lines

NNAPI = find_delegate("nnapi")

TAGGED = "11-20 12:00:00.000  1234  1234 I "


def device(name, cost, rejects=(), **settings):
    codes = frozenset([OperationType[one].value for one in rejects])
    return ProfiledDevice(name, 4, Costs(default=DeviceCost(cost, cost)), rejects=codes, **settings)


def run_with(model, devices, **options):
    given = {"devices": devices, "feature_level": 30, **options}
    values = parse_options("nnapi", NNAPI.options, given, "api")
    return simulate(model, Target(NNAPI, values))


def log_of(run, android=13):
    lines = [f"{TAGGED}tflite  : {line}" for line in run.log_lines]
    return "".join(f"{line}\n" for line in [*[TAGGED + line for line in runtime_lines(run, android)], *lines])


PHONE = DevicesProfile((device("dsp", 0.2, ["ABS", "TANH"]), device("gpu", 0.5, ["TANH", "FLOOR"])))
