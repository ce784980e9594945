"""Check what public functions are asked: delegates with options, releases, devices, and hypothetical changes.

A wrong argument raises OptionError.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..delegates.base import Delegate
from ..delegates.devices import find_device
from ..delegates.options import OptionValues, canonical_names, option_names, parse_options, without_release
from ..delegates.registry import DEFAULT_DELEGATE, DELEGATE_NAMES, LIVE_ONLY_NAMES, find_delegate, find_live
from ..errors import OptionError
from ..foundation.parsing.shapes import parse_shape
from ..foundation.printable import and_list
from ..hypothetical.hypothetical_changes import CONVERSIONS, HypotheticalChanges, NodeKey
from ..model.model import Model
from ..model.schema import is_operator
from ..releases.catalogue import DEFAULT_RELEASE, parse_release
from ..runtime.device_targets import delegates_of_devices, targets_on
from ..runtime.target import Target, releases_of
from .calls import kind_of, paths_of, require_bool, warn_of_former_name

if TYPE_CHECKING:
    from ..timing.measured import Timing

_DELEGATE, _RUNTIME, _DEFAULTS = "delegate", "runtime", "defaults"
_PLACES = (_DELEGATE, _RUNTIME, _DEFAULTS)
_ASSUMES_REGISTERED = "assume_ops_registered"


def application_of(
    name: Any, options: Any, defaults: Any, *, is_live: bool = False
) -> tuple[tuple[Delegate, OptionValues], str | None]:
    """Return a delegate with its options. Also return the runtime release if the options give a release. Raises OptionError."""
    delegate = delegate_of(name, is_live=is_live)
    own, release = without_release(_mapping(options, f"options of {delegate.name}", [option.key for option in delegate.options]))
    _warn_of_former_keys(delegate, own)
    return (delegate, parse_options(delegate.name, delegate.options, own, defaults)), release


def chain_of(delegates: Any, runtime: Any, defaults: Any, assume_ops_registered: Any) -> list[Target]:
    """Return a target for each delegate, in the order in which the delegates are applied. Raises OptionError.

    All targets have the same runtime release.
    """
    require_bool(_ASSUMES_REGISTERED, assume_ops_registered)
    applications = [application_of(name, options, defaults) for name, options in _pairs_of(delegates)]
    release = agreed([runtime, *[named for _, named in applications]])
    releases = releases_of([delegate for (delegate, _), _ in applications], release)
    return [
        Target(delegate, values, own_release, defaults, assume_ops_registered)
        for ((delegate, values), _), own_release in zip(applications, releases, strict=True)
    ]


def agreed(releases: Sequence[Any]) -> str:
    """Return the release in ``releases``, or the newest release if all entries are None.

    Raises OptionError if ``releases`` has more than one release.
    """
    named = list(dict.fromkeys([str(release) for release in releases if release is not None]))
    if len(named) > 1:
        raise OptionError(f"two releases are given: {' and '.join(named)}; give only one")
    return named[0] if named else DEFAULT_RELEASE


def target_of(
    delegate: Any, options: Any, runtime: Any, defaults: Any, assume_ops_registered: Any = False, *, is_live: bool = False
) -> Target:
    """Return the target of one delegate. Raises OptionError."""
    require_bool(_ASSUMES_REGISTERED, assume_ops_registered)
    (own, values), release = application_of(delegate, options, defaults, is_live=is_live)
    return Target(own, values, own.release_of(agreed([runtime, release])), defaults, assume_ops_registered)


def targets_of(delegates: Any, runtime: Any, defaults: Any, assume_ops_registered: Any) -> list[Target]:
    """Return a target for each delegate. ``delegates`` has names, or pairs of a name and options. Raises OptionError."""
    return [target_of(name, options, runtime, defaults, assume_ops_registered) for name, options in _pairs_of(delegates)]


def _pairs_of(delegates: Any) -> list[tuple[Any, Any]]:
    """Return a name and options for each delegate. ``delegates`` is a name, or has names or such pairs. Raises OptionError."""
    if isinstance(delegates, Mapping) or not isinstance(delegates, Iterable):
        raise OptionError(
            f"delegates must be a name, or a list of names or pairs of a name and options, not {kind_of(delegates)}"
        )
    given = [delegates] if isinstance(delegates, str) else list(delegates)
    if not given:
        raise OptionError("no delegate is given")
    pairs = [(own, {}) if isinstance(own, str) else own for own in given]
    if wrong := [pair for pair in pairs if not isinstance(pair, Sequence) or len(pair) != 2]:
        raise OptionError(
            f"a delegate must be a name, or a pair of a name and options, such as ({DEFAULT_DELEGATE!r}, {{}}), "
            f"not {kind_of(wrong[0])}"
        )
    return [(name, options) for name, options in pairs]


def changed_target(before: Target, options: Any, changed: Any, *, is_live: bool = False) -> Target:
    """Return a copy of ``before`` with the delegate, runtime, defaults and options in ``changed``. Raises OptionError.

    ``options`` are the options that were given for ``before``. If ``changed`` has another delegate, only the options that this
    delegate has are kept. With ``is_live``, a delegate that can only be run is accepted too.
    """
    given = _mapping(changed, "changed", [*_PLACES, *option_names(before.delegate.options)])
    delegate = delegate_of(given.get(_DELEGATE, before.delegate.name), is_live=is_live)
    known = set(option_names(delegate.options))
    own = {key: value for key, value in given.items() if key not in _PLACES}
    for key in own:
        if key not in known:
            raise OptionError(f"{delegate.name} has no option {key!r}; you can change {', '.join([*_PLACES, *sorted(known)])}")
    kept = canonical_names(
        delegate.name, delegate.options, {key: value for key, value in (options or {}).items() if key in known}
    )
    _warn_of_former_keys(delegate, own)
    own = canonical_names(delegate.name, delegate.options, own)
    keys = {option.name: option.key for option in delegate.options}
    runtime = given.get(_RUNTIME, str(before.release))
    defaults = given.get(_DEFAULTS, before.defaults)
    values = {keys[name]: value for name, value in {**kept, **own}.items()}
    return target_of(delegate.name, values, runtime, defaults, before.assume_ops_registered, is_live=is_live)


def delegate_of(name: Any, *, is_live: bool = False) -> Delegate:
    """Return the delegate with this name, or the default delegate if the name is None.

    Raises OptionError if no delegate has this name. Unless ``is_live`` is true, also raises OptionError if the delegate can
    only be run.
    """
    if name is None:
        return find_delegate(DEFAULT_DELEGATE)
    if not isinstance(name, str):
        raise OptionError(f"a delegate must be a name, not {kind_of(name)}; the delegates are {', '.join(DELEGATE_NAMES)}")
    _refuse_device(name)
    return find_live(name) if is_live else find_delegate(name)


def _refuse_device(name: str) -> None:

    if name in (*DELEGATE_NAMES, *LIVE_ONLY_NAMES):
        return
    try:
        delegates = [own.delegate for own in find_device(name).delegates]
    except OptionError:
        return
    if delegates:
        raise OptionError(
            f"there is no delegate {name!r}, but a device with the delegates {and_list(delegates)}; name one of them. analyze() "
            f"and diagnose() also take device={name!r}"
        )


def targets_with(
    device: Any, delegate: Any, options: Any, runtime: Any, defaults: Any, assume_ops_registered: Any, *, is_live: bool = False
) -> list[Target]:
    """Return the targets of a device in the order in which an application should try them, or the target of a delegate.

    If ``defaults`` is None, the options of a device have the defaults of the API, and the options of a delegate those of
    benchmark_model. Raises OptionError.
    """
    if device is None:
        own = "benchmark" if defaults is None else defaults
        return [target_of(delegate, options, runtime, own, assume_ops_registered, is_live=is_live)]
    require_bool(_ASSUMES_REGISTERED, assume_ops_registered)
    if options or is_live:
        raise OptionError("give a device, or a delegate with options or live: a device has its own delegates")
    only = [] if delegate is None else [delegate_of(delegate).name]
    if not isinstance(device, str):
        raise OptionError(f"a device must be a name, such as 'pixel10', not {kind_of(device)}")
    release, on_device = parse_release(agreed([runtime])), delegates_of_devices([device], only=only)
    return targets_on(on_device, release, "api" if defaults is None else defaults, assume_ops_registered)


def _warn_of_former_keys(delegate: Delegate, given: Mapping[str, Any]) -> None:
    for option in delegate.options:
        if option.name != option.key and option.name in given:
            warn_of_former_name(option.name, option.key)


def hypothetical_changes_of(
    accept: Any, versions: Any, batch: Any, resize: Any, fix_shapes: Any, conversion: Any
) -> HypotheticalChanges:
    """Return the hypothetical changes that the arguments describe. Raises OptionError.

    The changes are not checked against a model.
    """
    if isinstance(accept, str | int):
        accept = (accept,)
    if not isinstance(accept, Collection) or isinstance(accept, Mapping | bytes):
        raise OptionError(f"accept takes operators (by name) and nodes, not {kind_of(accept)}")
    ops, nodes = _ops_and_nodes([(key, None) for key in accept])
    op_versions, node_versions = _ops_and_nodes(_mapping(versions, "set_versions", ["names of operators", "nodes"]).items())
    for version in [*op_versions.values(), *node_versions.values()]:
        if not _is_number(version) or version < 1:
            raise OptionError(f"a version must be a whole number of at least 1, not {version!r}")
    if batch is not None and not _is_number(batch):
        raise OptionError(f"a batch must be a whole number of at least 1, not {batch!r}")
    resized: dict[str, tuple[int, ...]] = {}
    for name, shape in _mapping(resize, "resize", ["names of inputs"]).items():
        sizes = shape if isinstance(shape, Collection) else [shape]
        resized.update([parse_shape(f"{name}={','.join(map(str, sizes))}")])
    require_bool("fix_shapes", fix_shapes)
    if conversion is not None and conversion not in tuple(CONVERSIONS):
        raise OptionError(f"a conversion must be one of {', '.join(CONVERSIONS)}, not {conversion!r}")
    return HypotheticalChanges(
        frozenset(ops),
        frozenset(nodes),
        op_versions,
        node_versions,
        batch,
        conversion=conversion or "",
        fixed_shapes=fix_shapes,
        resized=resized,
    )


def timings_of(op_profile: Any, model: Model, targets: Sequence[Target]) -> tuple[Timing, ...]:
    """Read op profiles, and match them with a model. Return an empty tuple if there are no profiles.

    Raises OptionError, LogError for a file without times, and WrongProfileError for a profile of another model.
    """
    paths = paths_of(op_profile, "op_profile")
    if not paths:
        return ()
    if any(target.delegate.runs_whole_models for target in targets):
        raise OptionError("op_profile has times of LiteRT's interpreter: name a delegate")

    from ..timing.matching import OpProfiles  # slow to import, and only needed for profiles

    return OpProfiles(tuple(paths)).timings(model, targets)


def _ops_and_nodes(given: Iterable[tuple[Any, Any]]) -> tuple[dict[str, Any], dict[NodeKey, Any]]:

    ops: dict[str, Any] = {}
    nodes: dict[NodeKey, Any] = {}
    for key, value in given:
        if isinstance(key, str):
            upper = key.upper().replace("-", "_")
            ops[upper if is_operator(upper) else key] = value
        elif _is_number(key):
            nodes[NodeKey(0, key)] = value
        elif isinstance(key, tuple) and len(key) == 2 and all(map(_is_number, key)):
            nodes[NodeKey(*key)] = value
        else:
            raise OptionError(
                f"give an operator by its name, and a node by its index or as (subgraph, index), not as {kind_of(key)}"
            )
    return ops, nodes


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _mapping(given: Any, what: str, known: Iterable[str]) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise OptionError(f"give {what} as a dictionary keyed by name, not as {kind_of(given)}; the names are {', '.join(known)}")
    return given
