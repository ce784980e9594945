"""Check the arguments of public functions: models, delegates with options, releases, and hypothetical changes.

A wrong argument raises ModelError or OptionError.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar, Union

from ..errors import ModelError, OptionError

if TYPE_CHECKING:
    from ..delegates.base import Delegate
    from ..delegates.options import OptionValues
    from ..hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey
    from ..model.model import Model
    from ..runtime.target import Target
    from ..timing.measured import Timing

ModelLike: TypeAlias = Union["Model", str, os.PathLike[str], bytes, bytearray, memoryview]
"""A model that is already loaded, the path of a model file, or the bytes of a model file."""
NodeLike: TypeAlias = int | tuple[int, int]
"""A node: its index in the first subgraph, or a pair of a subgraph index and a node index."""
PathsLike: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A path, or several paths."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_DELEGATE, _RUNTIME, _DEFAULTS = "delegate", "runtime", "defaults"
_PLACES = (_DELEGATE, _RUNTIME, _DEFAULTS)
_ASSUMES_REGISTERED = "assume_ops_registered"
_FORMER_NAMES = {
    "own_resolver": _ASSUMES_REGISTERED,
    "replace": "force",
    "proves": "proof",
    "everything": "all",
    "versions": "set_versions",
    "conversion": "to",
}
"""The current name of each renamed argument, keyed by the former name."""
_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def model_of(model: Any, *, any_identifier: bool = False) -> Model:
    """Return a loaded model unchanged, or load a model from a path or from bytes. Raises ModelError.

    A model with the wrong identifier also raises ModelError, unless ``any_identifier`` is true.
    """
    from ..model.model import Model
    from ..model.reader import load, require_identifier

    if isinstance(model, Model):
        if not any_identifier:
            require_identifier(model)
        return model
    if not isinstance(model, str | os.PathLike | bytes | bytearray | memoryview):
        raise ModelError(f"a model must be a path, the bytes of a file, or a result of load(), not {_kind(model)}")
    return load(model, any_identifier=any_identifier)


def application_of(
    name: Any, options: Any, defaults: Any, *, is_live: bool = False
) -> tuple[tuple[Delegate, OptionValues], str | None]:
    """Return a delegate with its options. Also return the runtime release if the options give a release. Raises OptionError."""
    from ..delegates.options import parse_options, without_release

    delegate = delegate_of(name, is_live=is_live)
    own, release = without_release(_mapping(options, f"options of {delegate.name}", [option.key for option in delegate.options]))
    _warn_of_former_keys(delegate, own)
    return (delegate, parse_options(delegate.name, delegate.options, own, defaults)), release


def chain_of(delegates: Any, runtime: Any, defaults: Any, assume_ops_registered: Any) -> list[Target]:
    """Return a target for each delegate, in the order in which the delegates are applied. Raises OptionError.

    All targets have the same runtime release.
    """
    from ..delegates.registry import DEFAULT_DELEGATE
    from ..runtime.target import Target, releases_of

    require_bool(_ASSUMES_REGISTERED, assume_ops_registered)
    if isinstance(delegates, str | Mapping) or not isinstance(delegates, Iterable):
        raise OptionError(
            f"delegates must be pairs of a name and options, such as [({DEFAULT_DELEGATE!r}, {{}})], not {_kind(delegates)}"
        )
    applications = []
    for pair in delegates:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise OptionError(
                f"a delegate must be a pair of a name and options, such as ({DEFAULT_DELEGATE!r}, {{}}), not {_kind(pair)}"
            )
        name, options = pair
        applications.append(application_of(name, options, defaults))
    if not applications:
        raise OptionError("no delegate is given")
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
    from ..releases.catalogue import DEFAULT_RELEASE

    named = list(dict.fromkeys([str(release) for release in releases if release is not None]))
    if len(named) > 1:
        raise OptionError(f"two releases are given: {' and '.join(named)}; give only one")
    return named[0] if named else DEFAULT_RELEASE


def target_of(
    delegate: Any, options: Any, runtime: Any, defaults: Any, assume_ops_registered: Any = False, *, is_live: bool = False
) -> Target:
    """Return the target of one delegate. Raises OptionError."""
    from ..runtime.target import Target

    require_bool(_ASSUMES_REGISTERED, assume_ops_registered)
    (own, values), release = application_of(delegate, options, defaults, is_live=is_live)
    return Target(own, values, own.release_of(agreed([runtime, release])), defaults, assume_ops_registered)


def open_question_of(model: Model, target: Target) -> Target:
    """Return the target to diagnose if no delegate is named. It has the release and defaults of ``target``. Raises LimitError."""
    from ..delegates.registry import DELEGATE_NAMES
    from ..diagnosis.diagnose import find_open_question
    from ..graph.effort import Effort

    further = (str(target.release), target.defaults, target.assume_ops_registered)
    return find_open_question(model, [target_of(name, None, *further) for name in DELEGATE_NAMES], Effort(model)).target


def targets_of(delegates: Any, runtime: Any, defaults: Any, assume_ops_registered: Any) -> list[Target]:
    """Return a target for each delegate. ``delegates`` has names, or pairs of a name and options. Raises OptionError."""
    given = [delegates] if isinstance(delegates, str) else list(delegates)
    pairs = [(own, {}) if isinstance(own, str) else own for own in given]
    if not pairs:
        raise OptionError("no delegate is given")
    if wrong := [pair for pair in pairs if not isinstance(pair, tuple | list) or len(pair) != 2]:
        raise OptionError(f"a delegate is a name, or a pair of a name and options, not {wrong[0]!r}")
    return [target_of(name, options, runtime, defaults, assume_ops_registered) for name, options in pairs]


def changed_target(before: Target, options: Any, changed: Any, *, is_live: bool = False) -> Target:
    """Return a copy of ``before`` with the delegate, runtime, defaults and options in ``changed``. Raises OptionError.

    ``options`` are the options that were given for ``before``. If ``changed`` has another delegate, only the options that this
    delegate has are kept. With ``is_live``, a delegate that can only be run is accepted too.
    """
    from ..delegates.options import canonical_names, option_names

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
    from ..delegates.registry import DEFAULT_DELEGATE, DELEGATE_NAMES, find_delegate, find_live

    if name is None:
        return find_delegate(DEFAULT_DELEGATE)
    if not isinstance(name, str):
        raise OptionError(f"a delegate must be a name, not {_kind(name)}; the delegates are {', '.join(DELEGATE_NAMES)}")
    _refuse_device(name)
    return find_live(name) if is_live else find_delegate(name)


def _refuse_device(name: str) -> None:
    from ..delegates.devices import find_device
    from ..delegates.registry import DELEGATE_NAMES, LIVE_ONLY_NAMES
    from ..foundation.printable import and_list

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
    from ..releases.catalogue import parse_release
    from ..runtime.device_targets import delegates_of_devices, targets_on

    if device is None:
        own = "benchmark" if defaults is None else defaults
        return [target_of(delegate, options, runtime, own, assume_ops_registered, is_live=is_live)]
    require_bool(_ASSUMES_REGISTERED, assume_ops_registered)
    if options or is_live:
        raise OptionError("give a device, or a delegate with options or live: a device has its own delegates")
    only = [] if delegate is None else [delegate_of(delegate).name]
    if not isinstance(device, str):
        raise OptionError(f"a device must be a name, such as 'pixel10', not {_kind(device)}")
    release, on_device = parse_release(agreed([runtime])), delegates_of_devices([device], only=only)
    return targets_on(on_device, release, "api" if defaults is None else defaults, assume_ops_registered)


def public(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorate a public function.

    The decorated function raises OptionError if the arguments do not match the signature. It raises LimitError if a model uses
    up the memory or the stack of the process. It accepts former names of arguments, and then gives a DeprecationWarning.
    """

    @functools.wraps(function)
    def call(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        known = getattr(function, "__kwdefaults__", None) or ()
        for former in [name for name in named if name not in known and _FORMER_NAMES.get(name) in known]:
            _rename(named, former)
        try:
            return function(*arguments, **named)
        except TypeError as error:
            refused = _refused(function, arguments, named)
            if refused is None:
                raise
            raise OptionError(refused) from error
        except (MemoryError, RecursionError) as error:
            from ..foundation.limits import exhausted

            raise exhausted(error, _path_of(arguments)) from None

    return call


def _path_of(arguments: Sequence[Any]) -> str | None:
    path = getattr(arguments[0], "path", arguments[0]) if arguments else None
    return os.fspath(path) if isinstance(path, str | os.PathLike) else None


def _rename(named: dict[str, Any], former: str) -> None:
    name = _FORMER_NAMES[former]
    if name in named:
        raise OptionError(f"{former} is the old name of {name}: give only one of them")
    warn_of_former_name(former, name)
    named[name] = named.pop(former)


def warn_of_former_name(former: str, name: str) -> None:
    """Give a DeprecationWarning for the caller's line of code. The caller is the innermost frame outside this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    message = f"{former} is now called {name}; the old name will be removed in the next release"
    warnings.warn(message, DeprecationWarning, stacklevel=level)


def _warn_of_former_keys(delegate: Delegate, given: Mapping[str, Any]) -> None:
    for option in delegate.options:
        if option.name != option.key and option.name in given:
            warn_of_former_name(option.name, option.key)


def _refused(function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]) -> str | None:
    """Return an error message if the arguments do not match the signature of a function, or None if they match."""
    import inspect  # slow to import, and only needed for an error

    signature = inspect.signature(function)
    try:
        signature.bind(*arguments, **named)
    except TypeError as error:
        text = f"{function.__name__}: {error}; its arguments are {', '.join(signature.parameters)}"
        unknown = [name for name in named if name not in signature.parameters]
        if unknown and "options" in signature.parameters:
            text += f"; an option of the delegate goes into options: options={{'{unknown[0]}': ...}}"
        return text
    return None


def require_bool(name: str, value: object) -> None:
    """Raise OptionError unless an argument is True or False."""
    if not isinstance(value, bool):
        raise OptionError(f"{name} must be True or False, not {_kind(value)}")


def hypothetical_changes_of(accept: Any, versions: Any, batch: Any, fix_shapes: Any, conversion: Any) -> HypotheticalChanges:
    """Return the hypothetical changes that the arguments describe. Raises OptionError.

    The changes are not checked against a model.
    """
    from ..hypothetical.hypothetical_changes import CONVERSIONS, HypotheticalChanges

    if isinstance(accept, str | int):
        accept = (accept,)
    if not isinstance(accept, Collection) or isinstance(accept, Mapping | bytes):
        raise OptionError(f"accept takes operators (by name) and nodes, not {_kind(accept)}")
    ops, nodes = _ops_and_nodes([(key, None) for key in accept])
    op_versions, node_versions = _ops_and_nodes(_mapping(versions, "set_versions", ["names of operators", "nodes"]).items())
    for version in [*op_versions.values(), *node_versions.values()]:
        if not _is_number(version) or version < 1:
            raise OptionError(f"a version must be a whole number of at least 1, not {version!r}")
    if batch is not None and not _is_number(batch):
        raise OptionError(f"a batch must be a whole number of at least 1, not {batch!r}")
    require_bool("fix_shapes", fix_shapes)
    if conversion is not None and conversion not in tuple(CONVERSIONS):
        raise OptionError(f"a conversion must be one of {', '.join(CONVERSIONS)}, not {conversion!r}")
    return HypotheticalChanges(
        frozenset(ops), frozenset(nodes), op_versions, node_versions, batch, conversion=conversion or "", fixed_shapes=fix_shapes
    )


def timings_of(op_profile: Any, model: Model, targets: Sequence[Target]) -> tuple[Timing, ...]:
    """Read op profiles, and match them with a model. Return an empty tuple if there are no profiles.

    Raises OptionError, LogError for a file without times, and WrongProfileError for a profile of another model.
    """
    paths = paths_of(op_profile, "op_profile")
    if not paths:
        return ()
    from ..timing.matching import OpProfiles

    return OpProfiles(tuple(paths)).timings(model, targets)


def paths_of(given: Any, what: str) -> list[str]:
    """Return one or several paths as a list of strings. Raises OptionError with a message that starts with ``what``."""
    if isinstance(given, str | os.PathLike):
        given = [given]
    if not isinstance(given, Sequence) or not all(isinstance(path, str | os.PathLike) for path in given):
        raise OptionError(f"{what} takes a path, or a list of paths, not {_kind(given)}")
    return [os.fsdecode(path) for path in given]


def names_of(given: Any, what: str) -> list[str]:
    """Return one or several names as a list. Raises OptionError with a message that starts with ``what``."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Sequence) or not all(isinstance(name, str) for name in given):
        raise OptionError(f"{what} takes a name, or a list of names, not {_kind(given)}")
    return list(given)


def _ops_and_nodes(given: Iterable[tuple[Any, Any]]) -> tuple[dict[str, Any], dict[NodeKey, Any]]:
    from ..hypothetical.hypothetical_changes import NodeKey
    from ..model.schema import is_operator

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
                f"give an operator by its name, and a node by its index or as (subgraph, index), not as {_kind(key)}"
            )
    return ops, nodes


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _mapping(given: Any, what: str, known: Iterable[str]) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise OptionError(f"give {what} as a dictionary keyed by name, not as {_kind(given)}; the names are {', '.join(known)}")
    return given


def _kind(value: Any) -> str:
    """Describe a value by its type, because its text may be very long."""
    return "None" if value is None else f"a value of type {type(value).__name__}"
