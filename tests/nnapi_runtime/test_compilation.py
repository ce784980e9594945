"""Splitting a model over devices, compiling, falling back."""

from __future__ import annotations

import pytest

from delegate_sim.nnapi_runtime.builder import ModelBuilder
from delegate_sim.nnapi_runtime.compilation import CompilationOptions, Partitioning, PlanKind, compile_model
from delegate_sim.nnapi_runtime.devices import Costs, Device, DeviceCost, cpu_device, visible_operations
from delegate_sim.nnapi_runtime.refusal import ProcessAborted
from delegate_sim.nnapi_runtime.types import AndroidRelease, Preference, Version
from tests.support.nnapi_runtime_examples import O, T, add_int, add_model, add_tensor, chain, condition_model, driver, steps_of

CPU = cpu_device()
NO_FALLBACK = CompilationOptions(partitioning=Partitioning.WITHOUT_FALLBACK)


def compiled(model, *devices, **options):
    return compile_model(model, [*devices, CPU], CompilationOptions(**options))


def test_one_device_takes_all():
    compilation = compiled(chain(O.RELU, O.ADD), driver())
    assert (compilation.code, compilation.kind, compilation.plan.device.name) == (0, PlanKind.SIMPLE, "driver")
    assert not compilation.fell_back


def test_what_the_driver_refuses_runs_on_the_cpu():
    compilation = compiled(chain(O.RELU, O.ADD, O.RELU), driver(takes=lambda tag: tag != 1))
    assert compilation.kind == PlanKind.COMPOUND
    assert steps_of(compilation) == [("driver", [0]), ("nnapi-reference", [1]), ("driver", [2])]


@pytest.mark.parametrize(("cost", "name"), [(0.99, "driver"), (1.0, "nnapi-reference"), (1.01, "nnapi-reference")])
def test_the_cpu_wins_a_tie(cost, name):
    assert compiled(chain(O.RELU), driver(cost=cost)).plan.device.name == name


def test_the_first_of_equal_drivers_wins():
    assert compiled(chain(O.RELU), driver("one"), driver("two")).plan.device.name == "one"


def test_power_counts_for_low_power_alone():
    costs = Costs({T.TENSOR_FLOAT32: DeviceCost(execution=0.5, power=2.0)})
    device = Device("driver", 8, lambda *_: True, costs)
    assert compiled(chain(O.RELU), device, preference=Preference.LOW_POWER).plan.device is CPU
    assert compiled(chain(O.RELU), device, preference=Preference.SUSTAINED_SPEED).plan.device is device


def test_relaxed_computation_has_costs_of_its_own():
    builder = ModelBuilder()
    given, result = add_tensor(builder), add_tensor(builder)
    builder.add_operation(O.RELU, [given], [result])
    builder.identify_inputs_and_outputs([given], [result])
    builder.relax_to_float16()
    device = Device(
        "driver", 8, lambda *_: True, Costs({T.TENSOR_FLOAT32: DeviceCost(2, 2)}, relaxed_tensor=DeviceCost(0.5, 0.5))
    )
    assert compiled(builder.finish(), device).plan.device is device
    assert compiled(chain(O.RELU), device).plan.device is CPU


def test_a_type_that_the_table_lacks_costs_the_most():
    assert compiled(chain(O.RELU), Device("driver", 8, lambda *_: True, Costs())).plan.device is CPU


def two_levels():
    """A model whose second of three operations needs level 3, because of a half-precision detour."""
    builder = ModelBuilder()
    given, first, last = (add_tensor(builder) for _ in range(3))
    middle = builder.add_operand(T.TENSOR_FLOAT32)
    for tag, (source, result) in enumerate([(given, first), (first, middle), (given, last)]):
        builder.add_operation(O.RELU, [source], [result], tag)
    builder.identify_inputs_and_outputs([given], [middle, last])
    return builder.finish()


def test_an_old_driver_is_shown_the_operations_of_its_level():
    model = two_levels()
    assert [one.tag for one in visible_operations(model, Version(8))] == model.order
    assert sorted(one.tag for one in visible_operations(model, Version(2))) == [0, 2]
    compilation = compiled(model, driver(level=2))
    assert sorted(steps_of(compilation)) == [("driver", [0, 2]), ("nnapi-reference", [1])]


def test_a_slice_without_an_output_is_given_up():
    builder = ModelBuilder()
    given, unread, result = add_tensor(builder), add_tensor(builder), builder.add_operand(T.TENSOR_FLOAT32)
    builder.add_operation(O.RELU, [given], [unread])
    builder.add_operation(O.RELU, [given], [result])
    builder.identify_inputs_and_outputs([given], [result])
    assert visible_operations(builder.finish(), Version(1)) is None
    assert visible_operations(chain(O.RELU, code=T.TENSOR_FLOAT16), Version(1)) is None


def test_a_driver_that_does_not_answer_gets_nothing():
    assert compiled(chain(O.RELU), driver(answers=False)).plan.device is CPU


def test_no_device_is_an_error_of_the_request():
    compilation = compile_model(chain(O.RELU), [driver(takes=lambda tag: False)], CompilationOptions())
    assert (compilation.code, compilation.kind) == (4, PlanKind.EMPTY)
    assert compilation.refusal.code == "compilation-no-device"


def test_a_driver_that_fails_to_compile():
    model = chain(O.RELU)
    fallen = compiled(model, driver(compiles=False))
    assert (fallen.code, fallen.fell_back, fallen.plan.device.name) == (0, True, "nnapi-reference")
    assert fallen.refusal.code == "compilation-driver"
    refused = compile_model(model, [driver(compiles=False), CPU], NO_FALLBACK)
    assert (refused.code, refused.kind, refused.fell_back) == (5, PlanKind.ERROR, False)


def test_the_mode_can_leave_out_all_drivers():
    compilation = compiled(chain(O.RELU), driver(), partitioning=Partitioning.CPU_ONLY)
    assert (compilation.kind, compilation.plan.device.name, compilation.fell_back) == (PlanKind.SIMPLE, "nnapi-reference", True)


@pytest.mark.parametrize(("code", "kind"), [(4, PlanKind.ERROR), (5, PlanKind.SIMPLE)])
def test_only_errors_that_are_not_the_requests_fall_back(code, kind):
    compilation = compiled(chain(O.RELU), driver(), simulated_failure=code)
    assert (compilation.kind, compilation.refusal.code) == (kind, "compilation-simulated")


def test_an_operation_of_the_oem_rules_out_the_fallback():
    builder = ModelBuilder()
    given, result = add_tensor(builder), add_tensor(builder)
    builder.add_operation(O.OEM_OPERATION, [given], [result])
    builder.identify_inputs_and_outputs([given], [result])
    compilation = compiled(builder.finish(), driver(compiles=False))
    assert (compilation.code, compilation.kind) == (5, PlanKind.ERROR)


def test_a_step_of_dead_operations_is_refused():
    builder = ModelBuilder()
    given, unread, result = (add_tensor(builder) for _ in range(3))
    builder.add_operation(O.RELU, [given], [unread], 0)
    builder.add_operation(O.RELU, [given], [result], 1)
    builder.identify_inputs_and_outputs([given], [result])
    model = builder.finish()
    compilation = compile_model(model, [driver("one", takes=lambda tag: tag == 0), CPU], NO_FALLBACK)
    assert (compilation.code, compilation.refusal.code) == (5, "compilation-step-boundary")


def test_unknown_sizes_between_steps_need_level_3():
    model = chain(O.RELU, O.RELU, dims=(0, 3))
    for level, code in ((2, 5), (3, 0)):
        first = driver("one", level, takes=lambda tag: tag == 0)
        compilation = compile_model(model, [first, CPU], NO_FALLBACK)
        assert compilation.code == code
    assert compile_model(model, [driver("one", 2, takes=lambda tag: tag == 0), CPU], NO_FALLBACK).refusal.code == (
        "compilation-step-sizes"
    )


def branches(*readers, then=None, dims=(2, 3), is_output=True):
    """An IF, then operations that read its result."""
    builder = ModelBuilder()
    inputs = [builder.add_operand(T.TENSOR_BOOL8, (1,)), add_tensor(builder, dims)]
    models = [add_model(builder, model) for model in (then or chain(O.RELU, O.RELU), chain(O.ADD))]
    result = add_tensor(builder, dims)
    builder.add_operation(O.IF, [inputs[0], *models, inputs[1]], [result], 10)
    outputs = [result] if is_output else []
    for tag in readers:
        outputs.append(add_tensor(builder, dims))
        builder.add_operation(O.ADD, [result, result, add_int(builder)], outputs[-1:], tag)
    builder.identify_inputs_and_outputs(inputs, outputs)
    return builder.finish()


def test_an_if_that_no_driver_takes_is_interpreted():
    compilation = compiled(branches(), driver(takes=lambda tag: tag == 0))
    assert steps_of(compilation) == [("driver", [0]), ("nnapi-reference", [1]), ("driver", [0])]


def test_an_if_can_run_on_a_driver_as_a_whole():
    assert compiled(branches(), driver()).plan.device.name == "driver"


def test_an_if_over_unknown_sizes_runs_on_the_cpu():
    assert compiled(branches(dims=(0, 3)), driver()).plan.device is CPU
    assert compile_model(branches(dims=(0, 3)), [driver()], CompilationOptions()).code == 4


def test_a_loop_is_interpreted_with_its_models():
    builder = ModelBuilder()
    given, result = add_tensor(builder, (1,)), add_tensor(builder, (1,))
    models = [add_model(builder, one) for one in (condition_model(), chain(O.RELU, dims=(1,)))]
    builder.add_operation(O.WHILE, [*models, given], [result], 10)
    builder.identify_inputs_and_outputs([given], [result])
    compilation = compiled(builder.finish(), driver(takes=lambda tag: tag == 0))
    assert steps_of(compilation) == [("nnapi-reference", [-1]), ("driver", [0])]
    assert [getattr(step, "kind", None) and step.kind.value for step in compilation.plan.steps] == [
        "while",
        None,
        "goto",
        None,
        "goto",
    ]


def test_a_model_output_of_an_interpreted_if_that_is_read_later_ends_the_process():
    device = driver(takes=lambda tag: tag == 0)
    with pytest.raises(ProcessAborted, match="but no step of the main model writes this output"):
        compiled(branches(20), device)
    assert compiled(branches(20, is_output=False), device).kind == PlanKind.COMPOUND


def test_costs_of_control_flow_add_up():
    costs = Costs({}, *[DeviceCost(0.25, 0.25)] * 3, if_overhead=DeviceCost(0.5, 0.5))
    device = Device("driver", 8, lambda *_: True, costs)
    # 0.5 + (0.5 + 0.25) / 2 is less than 1 + (2 + 1) / 2 on the CPU.
    assert compiled(branches(), device).plan.device is device
    dear = Device("driver", 8, lambda *_: True, Costs({}, *[DeviceCost(0.25, 0.25)] * 3, if_overhead=DeviceCost(3.0, 3.0)))
    assert steps_of(compiled(branches(), dear)) == [("driver", [0, 1]), ("driver", [0])]


# Earlier releases of Android, whose rules are read


RELEASES = [AndroidRelease(number) for number in (10, 11, 12, 13)]


def between_devices(android, shape=(2,), **more):
    """Two operations that different devices take, with a result of this shape between them."""
    builder = ModelBuilder(android, **more)
    given, middle, result = add_tensor(builder, (2,)), add_tensor(builder, shape), add_tensor(builder, (2,))
    builder.add_operation(O.RELU, [given], [middle], 0)
    builder.add_operation(O.RELU, [middle], [result], 1)
    builder.identify_inputs_and_outputs([given], [result])
    return builder.finish()


@pytest.mark.parametrize(("android", "code"), list(zip(RELEASES, (5, 5, 0, 0), strict=True)))
def test_results_of_unknown_size_between_steps(android, code):
    devices = [driver("one", 3, takes=lambda tag: tag == 0), driver("two", 3, takes=lambda tag: tag == 1)]
    model = between_devices(android, (0,))
    assert compile_model(model, devices, NO_FALLBACK).code == code
    assert compile_model(between_devices(android), devices, NO_FALLBACK).code == 0


@pytest.mark.parametrize(("android", "code"), list(zip(RELEASES, (0, 0, 5, 5), strict=True)))
def test_a_step_that_gives_nothing(android, code):
    builder = ModelBuilder(android)
    given, unread, result = (add_tensor(builder) for _ in range(3))
    builder.add_operation(O.RELU, [given], [unread], 0)
    builder.add_operation(O.RELU, [given], [result], 1)
    builder.identify_inputs_and_outputs([given], [result])
    devices = [driver("one", 3, takes=lambda tag: tag == 0), driver("two", 3, takes=lambda tag: tag == 1)]
    assert compile_model(builder.finish(), devices, NO_FALLBACK).code == code


@pytest.mark.parametrize(("android", "name"), list(zip(RELEASES, ("one", "one", "two", "one"), strict=True)))
def test_an_updated_driver_on_equal_costs(android, name):
    model = between_devices(android)
    devices = [driver("one", 3), driver("two", 3, is_updatable=True)]
    assert compile_model(model, devices, NO_FALLBACK).plan.device.name == name
    assert compile_model(model, devices[::-1], NO_FALLBACK).plan.device.name == "two"
    assert compile_model(
        model, [driver("two", 3, cost=1.0, is_updatable=True), cpu_device(android)], NO_FALLBACK
    ).plan.device.is_cpu


@pytest.mark.parametrize(("android", "shown"), list(zip(RELEASES, (None, 1, 1, 1), strict=True)))
def test_trailing_defaults_are_dropped_since_android_11(android, shown):
    builder = ModelBuilder(android)
    given, result = add_tensor(builder, (1, 2, 2, 1)), add_tensor(builder, (1, 2, 2, 1))
    numbers = [add_int(builder, value) for value in (1, 1, 1, 1, 1, 0)]
    layout = builder.add_operand(T.BOOL)
    builder.set_value(layout, 1, b"\0")
    builder.add_operation(O.MAX_POOL_2D, [given, *numbers, layout], [result], 0)
    builder.identify_inputs_and_outputs([given], [result])
    found = visible_operations(builder.finish(), Version(1))
    assert (found and len(found)) == shown
