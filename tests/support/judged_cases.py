"""Cases of a gate: models, and entries of a baseline that they are judged by."""

from __future__ import annotations

from dataclasses import replace

from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.gate.baseline import EntryKey
from delegate_sim.gate.budgets import Budgets
from delegate_sim.gate.judgment import judge, take_entry
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import DEFAULT_RELEASE, parse_release
from delegate_sim.runtime.interpreter import simulate
from delegate_sim.runtime.target import Target
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.models import chain_model

NOT_LOADED = chain_model(["RELU", "LOGISTIC 9"])


def target(name="nnapi", *, release=DEFAULT_RELEASE, defaults="benchmark", assume_ops_registered=False, **options):
    delegate = find_delegate(name)
    values = parse_options(delegate.name, delegate.options, options, defaults)
    return Target(delegate, values, parse_release(release), defaults, assume_ops_registered)


PHONE = target()


def entry_of(builder, on=PHONE, **changed):
    """Return a baseline's entry, in which some measures are perhaps others than those that were found."""
    model = load(builder.bytes())
    entry = take_entry(simulate(model, on), model)
    return replace(entry, measures=replace(entry.measures, **changed))


def judged(builder, entry, on=PHONE, budgets=Budgets()):  # noqa: B008
    model = load(builder.bytes())
    return judge(EntryKey("m.tflite", "phone"), "sub/m.tflite", simulate(model, on), model, entry, budgets, "accept it")


def other_rules(entry):
    return replace(entry, rule_set="000000000000", tool="0.0.9")


def two_layers(first_version, second_version):
    """Return a model with a layer of 32 multiply-adds and one of 8."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    source, wide, narrow = layers.input("FLOAT32", 1, 8), layers.weights("FLOAT32", 4, 8), layers.weights("FLOAT32", 2, 4)
    hidden = layers.node("FULLY_CONNECTED", [source, wide, -1], "FLOAT32", (1, 4), version=first_version)
    layers.node("FULLY_CONNECTED", [hidden, narrow, -1], "FLOAT32", (1, 2), version=second_version)
    layers.finish()
    return builder
