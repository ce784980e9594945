"""Compare what an Android application has with what accelerators need to run its models.

Only the names of libraries are read, never their content.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ..bundles.archives import read_zip
from ..bundles.bundle_error import BundleError
from ..bundles.formats import ZIP, format_at
from ..bundles.member import Member, UnpackedBytes
from ..bundles.members import models_in
from ..bundles.opening import open_source
from ..bundles.ranged import Content
from ..delegates.registry import find_live
from ..delegates.traits import PluginTraits
from ..errors import DelegateSimError, LimitError, ModelError
from ..foundation.columns import INTEGER, LIST, YES_OR_NO, Column, Declared, attributes
from ..foundation.files import naming_file
from ..foundation.limits import naming_model, raised
from ..foundation.printable import printable
from ..foundation.work_budget import work_budget
from ..llm.sections import ProtobufError, ProtobufMessage
from ..model.precompiled import precompiled
from ..model.reader import load
from .manifest import HTP_VERSIONS, NEEDS, DeclaredLibrary, Manifest, Need, XmlError, merged, read_manifest

APP_SUFFIXES = (".apk", ".aab", ".aar")
_MOST_MANIFEST = 4 << 20
"""The largest size in bytes of a manifest."""
_DECLARING_SDK = 31
"""The first ``targetSdkVersion`` for which the manifest has to declare libraries of the phone (Android 12)."""
_COMPILED_MODEL = ("libLiteRt.so", "liblitert_jni.so", "liblitertlm_jni.so", "libLiteRtLm.so")
_INTERPRETER = ("libtensorflowlite_jni.so", "libtensorflowlite.so", "libtensorflowlite_c.so")
_LINKED_GPU = frozenset({"liblitertlm_jni.so", "libLiteRtLm.so"})
_OTHER_QNN_USERS = frozenset({"libQnnTFLiteDelegate.so", "libqnn_executorch_backend.so", "libonnxruntime.so", "libSNPE.so"})
"""Libraries that use Qualcomm's libraries without LiteRT's dispatch library."""
_DISPATCH = "libLiteRtDispatch_"

FOUND, MISSING, CONFLICT, UNKNOWN = "found", "missing", "conflict", "not known"
"""The states of a need. In a conflict, several libraries are found, and LiteRT loads one of them."""
COMPLETE, INCOMPLETE, ABSENT = "complete", "incomplete", "absent"
"""The states of a target, besides ``not known``. ``absent``: the file has none of its libraries, and no model compiled for it."""


@dataclass(frozen=True, slots=True)
class AppModel(Declared):
    """A model: its address, and the vendor and SoC that it was compiled for. ``fault`` is the reason why it cannot be read.

    ``compiled_for`` is empty if the model is not compiled, or if the file does not name the SoC.
    """

    columns = (Column("address"), Column("is_compiled", YES_OR_NO), *attributes("compiled_for", "fault"))

    address: str
    is_compiled: bool
    compiled_for: str
    fault: str


@dataclass(frozen=True, slots=True)
class AppNeed(Declared):
    """One need of a target, and what the file has: names of libraries, or the value of ``extractNativeLibs``.

    One of the names in ``needed`` is enough. If ``for_all`` is False, only some phones need it.
    """

    columns = (
        *attributes("code", "state"),
        *(Column("needed", LIST), Column("found", LIST), Column("place"), Column("for_all", YES_OR_NO)),
    )

    code: str
    state: str
    needed: tuple[str, ...]
    found: tuple[str, ...]
    place: str
    for_all: bool = True


@dataclass(frozen=True, slots=True)
class AppTarget(Declared):
    """A target on one ABI: whether it can run the models of the application, and its needs."""

    columns = (*attributes("target", "abi", "state"), Column("needs", LIST, parts=AppNeed.columns))

    target: str
    abi: str
    state: str
    needs: tuple[AppNeed, ...]

    @property
    def missing(self) -> tuple[AppNeed, ...]:
        """The needs of all phones that the file does not meet."""
        return tuple([need for need in self.needs if need.for_all and need.state in (MISSING, CONFLICT)])


@dataclass(frozen=True, slots=True)
class App(Declared):
    """An application, or a library for applications.

    ``manifest_fault`` is the reason why the manifest cannot be read; the needs of the manifest are then not known.
    """

    document = "app"
    columns = (
        *attributes("path", "format", "package"),
        *(Column("min_sdk", INTEGER), Column("target_sdk", INTEGER), Column("extracts_libraries", YES_OR_NO)),
        Column("declared", LIST, parts=(Column("name"), Column("is_required", YES_OR_NO))),
        *(Column("manifest_fault"), Column("abis", LIST), Column("runtimes", LIST)),
        Column("models", LIST, parts=AppModel.columns),
        *(Column("targets", LIST, parts=AppTarget.columns), Column("not_checked", LIST)),
    )

    path: str
    format: str
    package: str
    min_sdk: int | None
    target_sdk: int | None
    extracts_libraries: bool | None
    declared: tuple[DeclaredLibrary, ...]
    manifest_fault: str
    abis: tuple[str, ...]
    runtimes: tuple[str, ...]
    models: tuple[AppModel, ...]
    targets: tuple[AppTarget, ...]
    not_checked: tuple[str, ...]
    """The codes of facts that the file does not show."""


def is_app(path: str) -> bool:
    """Return whether a path is an application, or a library for applications, on this computer: an archive with a manifest."""
    if not path.lower().endswith(APP_SUFFIXES) or format_at(path) != ZIP:
        return False
    with suppress(BundleError, ModelError), work_budget(is_new=True):
        return bool(_AppFiles(open_source(path).on_this_computer).manifests)
    return False


def read_app(path: str) -> App:
    """Return what an application has and needs.

    Raises ModelError if the archive is damaged or has no manifest, and LimitError if reading it takes too much work.
    """
    with work_budget(), naming_model(path):
        content = open_source(path).on_this_computer
        try:
            files = _AppFiles(content)
            if not files.manifests:
                raise BundleError("has no AndroidManifest.xml")
            with naming_file(path, ModelError):
                models = tuple(map(_model, models_in(path)))
        except BundleError as error:
            raise ModelError(printable(f"{path}: {error}")) from error
        return _app(path, files, models)


class _AppFiles:
    """The manifests and libraries of an archive. ``libraries`` has the names of libraries by module and ABI."""

    def __init__(self, content: Content) -> None:
        self._unpacking = UnpackedBytes(len(content))
        self.manifests: list[Member] = []
        self.bundle_config: Member | None = None
        self.format = "apk"
        self.libraries: dict[tuple[str, str], set[str]] = defaultdict(set)
        for member in read_zip(content):
            *folders, name = member.name.split("/")
            if member.name == "BundleConfig.pb":
                self.bundle_config, self.format = member, "aab"
            elif member.name == "classes.jar":
                self.format = "aar"
            elif name == "AndroidManifest.xml" and (not folders or folders[1:] == ["manifest"]):
                self.manifests.append(member)
            elif name.endswith(".so") and len(folders) in (2, 3) and folders[-2] in ("lib", "jni"):
                self.libraries["/".join(folders[:-1]), folders[-1]].add(name)
        self.manifests.sort(key=lambda member: not member.name.startswith("base/"))

    def read(self, member: Member) -> bytes:
        content = member.content(self._unpacking)
        if len(content) > raised(_MOST_MANIFEST):
            raise BundleError(f"holds {member.name} of more than {raised(_MOST_MANIFEST) >> 20} MiB")
        return bytes(content[:])

    def manifest(self) -> Manifest:
        manifest = merged([read_manifest(self.read(member)) for member in self.manifests])
        if self.format == "apk":
            # Android's default is to extract the libraries.
            return replace(manifest, extracts_libraries=manifest.extracts_libraries is not False)
        return replace(manifest, extracts_libraries=self._extracts() if self.bundle_config is not None else None)

    def _extracts(self) -> bool | None:
        """Return whether the APKs that are made from an app bundle have compressed libraries, which Android extracts.

        Source: ``src/main/proto/config.proto`` of google/bundletool (``UncompressNativeLibraries``).
        """
        assert self.bundle_config is not None
        try:
            optimizations = ProtobufMessage(self.read(self.bundle_config)).message(2)
            libraries = None if optimizations is None else optimizations.message(2)
            return None if libraries is None else not libraries.integer(1)
        except ProtobufError:
            return None


def _model(address: str) -> AppModel:
    try:
        stamp = precompiled(load(address))
    except LimitError:
        raise
    except DelegateSimError as error:
        return AppModel(address, False, "", str(error))
    return AppModel(address, stamp.is_compiled, f"{stamp.manufacturer} {stamp.soc}".strip(), "")


def _app(path: str, files: _AppFiles, models: tuple[AppModel, ...]) -> App:
    manifest, fault = Manifest(), ""
    try:
        manifest = files.manifest()
    except (BundleError, XmlError) as error:
        fault = str(error)
    names = {name for own in files.libraries.values() for name in own}
    runtimes = tuple([name for name in (*_COMPILED_MODEL, *_INTERPRETER) if name in names])
    contents = _Contents(files, None if fault else manifest, models)
    return App(
        path,
        files.format,
        manifest.package,
        manifest.min_sdk,
        manifest.target_sdk,
        manifest.extracts_libraries,
        manifest.libraries,
        fault,
        tuple(sorted(contents.by_abi)),
        runtimes,
        models,
        tuple(contents.targets()),
        tuple(_not_checked(files.format, runtimes)),
    )


def _state(needs: Sequence[AppNeed]) -> str:
    states = {need.state for need in needs if need.for_all}
    if not states:
        return ABSENT
    return INCOMPLETE if states & {MISSING, CONFLICT} else UNKNOWN if UNKNOWN in states else COMPLETE


def _not_checked(form: str, runtimes: Sequence[str]) -> Iterator[str]:
    if form == "apk":
        yield "app-feature-modules"
    if form == "aar":
        yield "app-merged-manifest"
    if not runtimes:
        yield "app-other-runtime"
    if _LINKED_GPU.intersection(runtimes):
        yield "app-linked-accelerator"
    yield "app-own-code"
    yield "app-system-image"


class _Contents:
    def __init__(self, files: _AppFiles, manifest: Manifest | None, models: Sequence[AppModel]) -> None:
        self._files, self._manifest, self._models = files, manifest, models
        self.by_abi: dict[str, set[str]] = defaultdict(set)
        for (_, abi), names in files.libraries.items():
            self.by_abi[abi] |= names
        self._libraries = frozenset[str]() if manifest is None else {library.name for library in manifest.libraries}
        """The libraries of the phone that the manifest declares."""

    def targets(self) -> Iterator[AppTarget]:
        needs: dict[str, list[Need]] = defaultdict(list)
        for need in NEEDS:
            needs[need.target].append(need)
        for target, own in needs.items():
            runtimes = _INTERPRETER if own[0].is_of_interpreter else _COMPILED_MODEL
            socs = self._socs(target)
            for abi in own[0].abis or sorted(self.by_abi):
                here = self.by_abi.get(abi, set())
                is_meant = bool(socs) or self._is_meant(own, here) or (own[0].may_be_linked and bool(here & _LINKED_GPU))
                if is_meant or here.intersection(runtimes):
                    requirements = tuple(self._requirements(own, abi, here, socs)) if is_meant else ()
                    yield AppTarget(target, abi, _state(requirements), requirements)

    def _socs(self, target: str) -> set[str]:
        """Return the SoCs of the models that are compiled for the vendor of a target; "" for a SoC without a name."""
        traits = find_live(target).live
        if not isinstance(traits, PluginTraits):
            return set()
        stamps = [model.compiled_for.partition(" ")[::2] for model in self._models if model.compiled_for]
        return {soc for maker, soc in stamps if maker == traits.manufacturer}

    def _is_meant(self, needs: Iterable[Need], here: set[str]) -> bool:
        """Return whether libraries show that the application means to use a target.

        Qualcomm's libraries show nothing if another library uses them.
        """
        ignored = {"app-vendor-library"} if here & _OTHER_QNN_USERS else set()
        own = [need for need in needs if not need.is_declared and need.code not in ignored]
        return any(self._named(need, here, ()) for need in own)

    def _named(self, need: Need, here: set[str], versions: Sequence[str]) -> tuple[str, ...]:
        """Return the names of a need that are among the libraries. Without versions, any version counts."""
        chosen = versions or (HTP_VERSIONS if need.each_version else ("",))
        return tuple([name.format(version) for name in need.names for version in chosen if name.format(version) in here])

    def _requirements(self, needs: Sequence[Need], abi: str, here: set[str], socs: set[str]) -> Iterator[AppNeed]:
        is_npu = needs[0].target.startswith("npu-")
        has_source_models = not socs or any(not model.is_compiled and not model.fault for model in self._models)
        place = f"{'jni' if self._files.format == 'aar' else 'lib'}/{abi}"
        for need in needs:
            if need.needs_compiler and is_npu and not has_source_models:
                continue
            if need.is_declared:
                if (requirement := self._declared(need, here)) is not None:
                    yield requirement
                continue
            for version in self._versions(needs, here, socs) if need.each_version else ("",):
                names = tuple([name.format(version or "V*") for name in need.names])
                present = tuple([name for name in names if name in here])
                state = FOUND if present else UNKNOWN if need.may_be_linked and here & _LINKED_GPU else MISSING
                yield AppNeed(need.code, state, names, present, place, need.for_all)
        if is_npu:
            yield from self._directories(needs[0].names[0], abi)
            yield self._extracted()

    def _versions(self, needs: Sequence[Need], here: set[str], socs: set[str]) -> list[str]:
        """Return the versions of the HTP that compiled models need, or that the application has a part of, or ""."""
        versions = [
            version
            for version, chips in HTP_VERSIONS.items()
            if chips & socs or any(self._named(need, here, (version,)) for need in needs if need.each_version)
        ]
        return versions or [""]

    def _declared(self, need: Need, here: set[str]) -> AppNeed | None:
        """Return a need of the manifest, or None if Android does not ask for the declaration."""
        place = "AndroidManifest.xml"
        if self._manifest is None:
            return AppNeed(need.code, UNKNOWN, need.names, (), place, need.for_all)
        target_sdk = self._manifest.target_sdk
        if target_sdk is not None and target_sdk < _DECLARING_SDK:
            return None
        present = tuple([name for name in need.names if name in self._libraries or name in here])
        return AppNeed(need.code, FOUND if present else MISSING, need.names, present, place, need.for_all)

    def _directories(self, own: str, abi: str) -> Iterator[AppNeed]:
        """Yield a conflict for each directory that has the dispatch libraries of several vendors."""
        for (module, directory), names in self._files.libraries.items():
            present = tuple(sorted([name for name in names if name.startswith(_DISPATCH)]))
            if directory == abi and own in present and len(present) > 1:
                yield AppNeed("app-one-dispatch-library", CONFLICT, (own,), present, f"{module}/{abi}")

    def _extracted(self) -> AppNeed:
        value = None if self._manifest is None else self._manifest.extracts_libraries
        state = UNKNOWN if value is None else FOUND if value else MISSING
        present = () if value is None else (f'extractNativeLibs="{str(value).lower()}"',)
        place = "BundleConfig.pb" if self._files.format == "aab" else "AndroidManifest.xml"
        return AppNeed("app-extracted-libraries", state, ('extractNativeLibs="true"',), present, place)
