"""Checks of robot, motion, study and tolerance files: every error with its line, warnings, remarks."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..description import Robot
from ..description.file_names import resolve_name
from ..errors import (
    Fault,
    FileError,
    InputError,
    PolypodError,
    RobotFileError,
    RoundedWarning,
    StateError,
    UnknownNameError,
    UnphysicalWarning,
)
from ..files import library, load
from ..files.document_kinds import DOCUMENT_KINDS, document_kind
from ..files.documents import parse, read
from ..files.faults import line_of, merge_sentences
from ..files.robot_files import with_file_lines
from ..legs import Chain, Machine
from ..model import Model
from ..model.results import suspected_unit_errors
from ..motion import AROUND_HOME, PUBLISHED, Task, load_motion, make_task, motion_fault
from ..platforms.modes import large_deflection
from ..results.intersample import between
from ..results.overview import mobility, parameters
from ..results.report import near_singularity
from ..results.sizing import limits
from ..results.study import study
from ..results.verdict import verdict
from ..simulation.elastic_spectrum import growth_rate
from ..stages import series, staged_library
from ..tables import Table


@dataclass
class Report:
    """What a file is, what is wrong with it, what is worth knowing.

    ``file`` is the robot's file where an error of a motion is one of its robot. ``within_limits`` is about home for a
    robot and about the whole path for a motion; None for a motion without a robot. ``broken`` lists the limits that a
    motion breaks. ``certified`` is whether a motion is proven to close, to keep the limits of legs and joints and to
    stay off singular poses between its samples too; None where that was not tried.
    """

    file: str
    kind: str
    faults: list[Fault] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    within_limits: bool | None = None
    broken: Table | None = None
    certified: bool | None = None

    @property
    def ok(self) -> bool:
        """Whether the file can be used."""
        return not self.faults

    @property
    def clean(self) -> bool:
        """Whether no limit is broken and nothing was warned of."""
        return self.ok and not self.warnings and self.within_limits is not False

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "file": self.file,
            "kind": self.kind,
            "ok": self.ok,
            "faults": [{"line": f.line, "field": f.field, "message": f.message} for f in self.faults],
            "remarks": self.remarks,
            "warnings": self.warnings,
            "within_limits": self.within_limits,
            "certified": self.certified,
            "limits": self.broken.records() if self.broken else [],
        }

    def source_lines(self) -> list[str]:
        """Each error, followed by the line of the file that it is about."""
        lines: list[str] = []
        with suppress(FileError):  # what cannot be read, a device among it, is the error
            lines = read(Path(self.file), AnyFileError).splitlines()
        found = []
        for fault in self.faults:
            found.append(f"  {fault}")
            if fault.line is not None and fault.line <= len(lines):
                found.append(f"    {fault.line:4d} | {lines[fault.line - 1]}")
        return found


class AnyFileError(FileError):
    """An error of a file that may be of any kind."""

    what = "robot, machine, motion, study or tolerance file"


def check(
    name: str | Path,
    robot: str | None = None,
    sources: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> Report:
    """Validate a robot, motion, study or tolerance file.

    Parameters
    ----------
    name : a file, or a robot or motion of the library
    robot : robot to try a motion or tolerances on; that which the motion names if not given
    sources : whether to list every parameter of a robot that has no source
    settings : other values of the robot's parameters, by path

    Returns
    -------
    Report : errors with their lines, warnings and remarks; nothing is raised for a file that is wrong
    """
    report = Report(str(name), "file")
    try:
        report.kind = kind_of(name)
        if report.kind == "robot":
            _check_robot(report, sources, settings)
        elif report.kind == "study":
            _check_study(report, settings)
        elif report.kind == "machine":
            _check_stages(report)
        elif report.kind == "tolerance":
            _check_tolerances(report, robot, settings)
        else:
            _check_motion(report, robot, settings)
    except FileError as error:
        report.faults = list(error.faults)
    except PolypodError as error:
        report.faults = [Fault("", str(error), 1 if os.path.isfile(name) else None)]  # of the whole file
    return report


def checked_text(text: str, path: Path) -> list[str]:
    """What ``check`` warns of in a robot file before it is written; an error if it is not a valid robot."""
    with TemporaryDirectory() as folder:
        trial = Path(folder) / f"{path.stem}.yaml"
        trial.write_text(text, encoding="utf-8")
        report = check(trial)
    if not report.ok:
        faults = "; ".join(f"{one.field}: {one.message}" if one.field else one.message for one in report.faults)
        raise InputError(f"{path} was not written, as 'polypod check' would refuse it: {faults}")
    return report.warnings


def kind_of(name: str | Path) -> str:
    """Kind of a file, robot, motion, study or tolerance: by the library, or by what the file holds."""
    path = Path(name)
    motions = (*PUBLISHED, AROUND_HOME)
    if isinstance(name, str) and not os.path.exists(path) and not path.suffix and path.name == name:
        known = (*library(), *staged_library(), *motions)
        if name not in known:
            beside = [f"{name}{end}" for end in (".yaml", ".yml") if os.path.isfile(f"{name}{end}")]
            raise UnknownNameError("file, robot or motion", name, (*beside, *known))
        if name in staged_library():
            return "machine"
        return "robot" if name in library() else "motion"
    if isinstance(name, str) and name in library():
        return "robot"  # as everywhere, a library name takes precedence over a file
    wanted = "a mapping such as 'name: my-hexapod' and more ('polypod new' writes one to start from)"
    document, _ = parse(read(path, AnyFileError), str(path), AnyFileError, wanted)
    kind = document_kind(document)
    if kind is None:
        needed = ", ".join(one.text for one in DOCUMENT_KINDS.values())
        text = f"{needed}; this file has neither, but {', '.join(map(str, document))}. Write them in lower case"
        raise AnyFileError(
            str(path), [Fault("", f"{text}; 'polypod new' writes a file of each kind to start from", 1, "neither")]
        )
    return kind


def _check_robot(report: Report, sources: bool, settings: Mapping[str, Any] | None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            robot = load(report.file, settings)
            with with_file_lines(robot if settings else report.file):
                model = Model(robot)
        finally:  # what is odd often explains what is wrong
            odd = [w.message for w in caught if not isinstance(w.message, RoundedWarning)]
            report.warnings = list(dict.fromkeys(text for message in odd for text in _warning_texts(message)))
    kinds = ", ".join(sorted({leg.kind for leg in robot.legs}))
    inner = np.zeros(len(model.internal)) if model.internal else None
    condition = float(model.conditioning(robot.home.matrix, internal=inner).condition)
    # gravity that points up is not an error: robots hang from ceilings
    hangs = ", hangs below its base" if np.dot(robot.gravity, robot.home.position) > 0 else ""
    report.remarks = [
        f"{robot.name}: {len(robot.legs)} legs ({kinds}), condition number {condition:.4g} at home{hangs}"
    ]
    report.remarks += _parts(model)
    report.remarks += _mobility(model)
    report.remarks += _internal(robot)
    at_home = model.joint_ranges(robot.home.matrix, internal=inner)
    report.within_limits = at_home.ok
    outside = merge_sentences(at_home.violations() if at_home.names else [])
    report.warnings += [f"at home {text}: every motion from home breaks this limit" for text in outside]
    report.remarks += _missing_sources(robot, sources)
    rounded = [w.message for w in caught if isinstance(w.message, RoundedWarning)]
    report.remarks += [f"turned {axis}" for message in rounded for axis in message.axes]
    report.warnings += suspected_unit_errors(at_home)
    if robot.flexible:
        _check_flexible(report, model)


def _parts(model: Model) -> list[str]:
    """Of a machine whose legs share bodies, have loops of their own or internal coordinates: what it is made of, its
    loops and its count of degrees of freedom, what is driven and what follows."""
    mechanism, lines = model.kernels.mechanism, []
    for leg in mechanism.legs:
        if not isinstance(leg.leg, Machine):
            continue
        labels = [leg.leg.label(name) for name in leg.leg.bodies]
        owners = list(dict.fromkeys(label.partition(".")[0] for label in labels if "." in label))
        shared = [label for label in labels if "." not in label]
        iterated = 0 if leg.placement.unknowns is None else leg.placement.unknowns.move.numel()
        solved = f"{iterated} joint coordinates by iteration, the others in closed form" if iterated else "closed form"
        lines.append(
            f"{leg.name}: legs {', '.join(owners) or 'none'} share {', '.join(shared) or 'bodies of each other'}; "
            f"solved together from the platform's pose: {solved}"
        )
    looped = any(isinstance(leg, Chain) and len(leg.joints) > len(leg.bodies) + 1 for leg in model.robot.legs)
    if not (lines or looped or model.robot.internal):
        return []
    count = mobility(model.robot)
    bodies, joints, coupled = count["moving_bodies"], count["joints"], count.get("couplings", 0)
    less = f" - {coupled} (couplings)" if coupled else ""
    others = "platform and internal coordinates" if model.robot.internal else "platform"
    spins = sum(len(leg.spin_lines()) for leg in model.robot.legs)
    idle = f", of which {spins} are rods that spin idly" if spins else ""
    return [
        *lines,
        f"{bodies} moving bodies, {joints} joints, {joints - bodies} independent loops; count of degrees of freedom 6 "
        f"({bodies} - {joints}) + {count['joint_dof']}{less} = {count['gruebler_kutzbach']}{idle}",
        f"driven: {', '.join(a.name for a in model.actuators)}; every other body and joint follows from the {others}",
    ]


def _mobility(model: Model) -> list[str]:
    """What the legs constrain, what follows from the robot's coordinates, and which constraints say nothing new."""
    mechanism = model.kernels.mechanism
    mobility = mechanism.mobility
    if mobility is None:
        return []
    count = len(model.dof)
    several = "s" if count > 1 else ""
    text = f"the platform has {count} degree{several} of freedom ({', '.join(model.dof)})"
    follow = [
        f"{name} up to {_with_unit(name, size)}" for name, size in mobility.parasitic.items()
    ]  # within a fifth of the robot's size
    lines = [text + (f"; parasitic motion around home: {', '.join(follow)}" if follow else "")]
    if mobility.redundant:
        names = [
            f"{mechanism.robot.legs[leg].name} {mechanism.placed[leg].placement.constraints[k].name}"
            for leg, k in mobility.redundant
        ]
        # a tilted axis is two constraints of one name: across it there are two directions
        times = [f"{name} (both ways)" if count == 2 else name for name, count in Counter(names).items()]
        shown = ", ".join(times[:3]) + (f" and {len(times) - 3} more" if len(times) > 3 else "")
        lines.append(
            f"overconstrained: {len(names)} of {len(names) + len(mobility.used)} constraints are redundant ({shown})"
        )
    return lines


def _internal(robot: Robot) -> list[str]:
    """Coordinates in addition to those of the platform, and which are held."""
    free, held = ([f for f in robot.internal if (f.held is None) == moves] for moves in (True, False))
    units = {"rotation": "rad", "translation": "m"}
    lines = [f"internal coordinates, given with every pose: {', '.join(f.name for f in free)}"] if free else []
    stand = [f"{f.name} at {f.held:g} {units[f.motion or 'rotation']}" for f in held]
    return lines + ([f"held internal coordinates: {', '.join(stand)}"] if stand else [])


def _with_unit(name: str, size: float) -> str:
    return f"{1e3 * size:.3g} mm" if len(name) == 1 else f"{np.degrees(size):.3g} deg"


def _missing_sources(robot: Robot, every: bool) -> list[str]:
    """Parameters without a source; only asked for, or of a robot that gives the sources of others."""
    listed = parameters(robot)
    missing = [p.path for p in listed if not p.source]
    if not missing or not (every or robot.sources):
        return []
    count = f"{len(missing)} of {len(listed)} parameters have no source"
    return [f"{count}: {', '.join(missing)}" if every else f"{count}, such as {missing[0]}"]


def _warning_texts(warning: Warning | str) -> list[str]:
    """A warning in full; one about unphysical inertia names each body."""
    return [warning.what, *warning.bodies] if isinstance(warning, UnphysicalWarning) else [str(warning)]


def _check_flexible(report: Report, model: Model) -> None:
    """Adds the platform's modes, and how far it bends under the robot's weight at home."""
    low, high = (float(f) / (2 * np.pi) for f in (model.modes.frequencies.min(), model.modes.frequencies.max()))
    text = f"flexible platform: {model.modes.count} modes of {low:.4g} to {high:.4g} Hz"
    try:
        deflection = model.deflection(model.static_equilibrium(model.robot.home.matrix).elastic)
    except (InputError, StateError) as error:
        report.warnings.append(f"at home {error}")
    else:
        report.warnings += large_deflection(model.robot, deflection, model.size)
        largest = 1e3 * float(np.linalg.norm(deflection, axis=-1).max())
        text += f"; static deflection at home up to {largest:.4g} mm"
        if growth_rate(model, model.robot.home.matrix) > 1.0:
            text += "; following a motion exactly is unstable, so studies omit vibration"
    report.remarks.append(text)


def _check_motion(report: Report, robot: str | None, settings: Mapping[str, Any] | None) -> None:
    path = None if report.file in (*PUBLISHED, AROUND_HOME) else Path(report.file)
    motion = None if path is None else load_motion(path)
    own = motion.robot if motion else PUBLISHED[report.file].robot if report.file in PUBLISHED else None
    name: str | Path | None = robot or own
    if robot is None and own is not None and path is not None:
        name = resolve_name(own, path.parent)
    if name is None:
        report.remarks = [f"{report.file}: not checked with a robot; pass robot= to check it with one"]
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the robot is not what is checked here
            model = Model(load(name, settings) if settings else name)
    except PolypodError as error:
        if isinstance(error, RobotFileError) and os.path.isfile(name):  # blame lands on the file that is at fault
            report.file, report.faults = str(name), list(error.faults)
            return
        line = None if robot or path is None else line_of("robot", parse(read(path, FileError), "", FileError, "")[1])
        report.faults = [Fault("robot", str(error).removeprefix("robot: "), line)]
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _check_along(report, model, make_task(model, report.file if path is None else path, moving_base=True))
        except (InputError, StateError) as error:
            fault = Fault("", str(error)) if path is None else motion_fault(path, error)
            if fault.field == "robot":
                report.file, fault = str(name), Fault("", str(error))
            report.faults = [fault]
    report.warnings = [*dict.fromkeys(str(w.message) for w in caught), *report.warnings]


def _check_along(report: Report, model: Model, task: Task) -> None:
    """Study the robot along the motion, and between its samples where it keeps its limits there."""
    result = study(model, task, certify=False)
    judged = verdict(result)
    report.within_limits, report.broken = judged.ok, limits(result)
    report.warnings = near_singularity(result)
    length = f"{task.time[-1]:.6g} s, {len(task.time)} samples"
    text = "all poses are reachable, but limits are broken"
    if judged.ok and task.base is not None:
        text = "within all limits at the samples; proofs between them are of a base that stands still"
    elif judged.ok:
        found = between(model, task)
        text, report.certified, report.within_limits = found.text, found.certified, not found.broken
        report.warnings += found.warnings
    report.remarks = [f"{task.name}: {length}, {model.robot.name}: {text}"]
    report.remarks += [] if judged.worst is None else [judged.headline]


def _check_stages(report: Report) -> None:
    """Builds every stage and the machine, and says what it is."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine = series(report.file)
    report.warnings = list(dict.fromkeys(str(w.message) for w in caught))
    count = sum(len(model.dof) for model in machine.stages)
    tool = machine.platform_poses([model.robot.home.matrix for model in machine.stages])[-1][:3, 3]
    report.remarks = [
        f"{machine.name}: {len(machine.stages)} stages, {count} degrees of freedom, {len(machine.actuators)} "
        f"actuators; the highest platform is at {[round(float(x), 6) for x in tool]} m at home",
        *(
            f"{name}: {len(model.legs)} leg{'s' if len(model.legs) > 1 else ''}, moves along {', '.join(model.dof)}"
            for name, model in zip(machine.names, machine.stages, strict=True)
        ),
    ]


def _check_study(report: Report, settings: Mapping[str, Any] | None) -> None:
    """Reads the study with its robot and motions, and builds the robot at both ends of every range."""
    from ..design import prepare
    from ..design.results import limits_text

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prepared, evaluator = prepare(report.file, settings)
    report.warnings = list(dict.fromkeys(str(w.message) for w in caught))
    study, robot = prepared.study, prepared.model.robot
    count = len(prepared.values)
    cases = ", ".join(prepared.load_case_names)
    varied = ", ".join(one.label for one in study.vary)
    report.remarks = [
        f"{study.name}: {count} designs of {robot.name} on {cases}; varied: {varied}",
        f"a design counts if it is {limits_text(evaluator)}",
    ]
    sought = [*(f"minimise {name}" for name in study.minimise), *(f"maximise {name}" for name in study.maximise)]
    sought += [f"{name} near {value}" for name, value in study.target.items()]
    report.remarks += [f"'polypod optimise': {', '.join(sought)}"] if sought else []
    report.warnings += evaluator.end_faults()


def _check_tolerances(report: Report, robot: str | None, settings: Mapping[str, Any] | None) -> None:
    """Reads the tolerances; with a robot, also whether it has these parameters."""
    from ..analysis import budget, load_tolerances

    given = load_tolerances(report.file)
    listed = [*given.parameters, *(f"growth {one.name}" for one in given.growth)]
    report.remarks = [f"tolerances of {', '.join(listed) or 'actuators'}"]
    if robot is None:
        report.remarks.append("not checked with a robot; pass robot= to check it with one")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the robot is not what is checked here
        model = Model(load(robot, settings) if settings else robot)
    found = budget(model, given)
    report.remarks.append(f"{model.robot.name} has all of these parameters; largest source: {found.names[0]}")
