"""MJCF: the model that MuJoCo itself makes of a file, at qpos0; loops by ``connect`` and ``weld`` equalities.

One ``connect`` is a spherical joint; two between the same bodies are a hinge through both points, three a fixed joint.
Meshes that are missing are left out where bodies state their inertia.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..description import Body
from ..description.quantities import LARGEST_NUMBER
from ..errors import InputError, MissingPackageError
from ..legs.chain import ChainJoint
from .embedded import EmbeddedRobot, digest, embedded_robot
from .linkage import (
    BASE,
    EMPTY_BODY,
    Linkage,
    LinkedRelation,
    LinkedTerm,
    Mark,
    axes_about,
    body,
    checked_joint,
    pose_of,
)
from .xml_file import read_xml

_KINDS = {0: "free", 1: "spherical", 2: "prismatic", 3: "revolute"}
PLATFORM_KEY = "polypod_platform"
"""Name of a custom text by which a file names its platform."""
ROBOT_KEY, DIGEST_KEY = "polypod_robot", "polypod_digest"
"""Names of the custom texts that hold the robot file and the digest of all elements but the digest's own."""
BEYOND_FRICTION = ("coulomb", "static", "stribeck_speed")
BEYOND_DRIVE = ("max_speed", "rms_force", "max_acceleration", "max_power", "force_speed", "max_stroke")
"""What joints and drives have and MuJoCo's have not: custom numbers, which MuJoCo takes no notice of."""


CARRIED = (*BEYOND_FRICTION, *BEYOND_DRIVE)
"""Fields that the elements say with these numbers."""


def custom_name(field: str, part: str) -> str:
    """Name of the custom numbers that say a field of a joint or body."""
    return f"polypod {field} of {part}"


def embed_robot(root: ET.Element, robot_file: str) -> None:
    """Add a robot file, and the digest of all elements, to the <custom> of a finished MJCF tree."""
    custom = root.find("custom")
    assert custom is not None
    ET.SubElement(custom, "text", {"name": ROBOT_KEY, "data": robot_file})
    mark = ET.SubElement(custom, "text", {"name": DIGEST_KEY, "data": "-"})
    mark.set("data", digest(root))


def read_embedded(path: Path, loops: Path | None = None) -> EmbeddedRobot | None:
    """The robot file that is embedded in an MJCF file, if one is."""
    root = read_xml(path)
    texts = {one.get("name"): one for one in root.findall("custom/text")}
    robot, mark = texts.get(ROBOT_KEY), texts.get(DIGEST_KEY)
    if robot is None:
        return None
    written = "" if mark is None else mark.get("data")
    if mark is not None:
        mark.set("data", "-")
    return embedded_robot(robot.get("data"), written == digest(root))


def read(path: Path, loops: Path | None = None) -> Linkage:
    """The linkage of an MJCF file at qpos0."""
    if loops is not None:
        raise InputError("loops: those of MJCF are in the file itself, as equalities")
    try:
        import mujoco
    except ImportError as error:
        raise MissingPackageError("reading MJCF", "MuJoCo", "import") from error
    return _File(mujoco, path).linkage()


class _File:
    """One file, compiled by MuJoCo, bodies placed at qpos0."""

    def __init__(self, mujoco: Any, path: Path) -> None:
        self.remarks: list[str] = []
        self.relations: list[LinkedRelation] = []
        self.passive_armatures: dict[str, float] = {}
        self.elements: list[dict[str, Any]] = []
        self.odd_actuators: list[str] = []
        self.mj, self.path = mujoco, path
        try:
            spec = mujoco.MjSpec.from_file(str(path))
            self.model = self._compiled(spec)
        except ValueError as error:
            raise InputError(f"{path}: rejected by MuJoCo: {' '.join(str(error).split())}") from error
        self.data = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        self.names = self._body_names()
        self._check_sizes()
        self.custom = self._custom()

    def _compiled(self, spec: Any) -> Any:
        """The model; without meshes where their files are missing and no body needs them for its inertia."""
        missing = [mesh for mesh in spec.meshes if mesh.file and not self._mesh(spec, mesh).is_file()]
        if missing:
            names = {mesh.name or Path(mesh.file).stem for mesh in missing}
            gone = [geom for geom in spec.geoms if geom.meshname in names]
            needed = sorted({geom.parent.name for geom in gone if not geom.parent.explicitinertial})
            if needed:
                raise InputError(
                    f"{self.path}: meshes that define inertias are missing: {', '.join(needed)}; put the meshes "
                    "where the file expects them, or give these bodies an <inertial>"
                )
            for item in (*gone, *missing):
                spec.delete(item)
            self.remarks.append(f"{len(missing)} meshes were not found and left out; the bodies have explicit inertias")
        return spec.compile()

    def _mesh(self, spec: Any, mesh: Any) -> Path:
        return self.path.parent / (spec.meshdir or "") / mesh.file

    def _name(self, kind: Any, number: int) -> str:
        return self.mj.mj_id2name(self.model, kind, number) or ""

    def _body_names(self) -> list[str]:
        names = [BASE]
        for number in range(1, self.model.nbody):
            name = self._name(self.mj.mjtObj.mjOBJ_BODY, number) or f"body{number}"
            names.append(f"{name}_body" if name == BASE else name)
        return names

    def _check_sizes(self) -> None:
        """Raise for bodies with numbers that nothing can be computed with."""
        model, data = self.model, self.data
        columns = (model.body_mass[:, None], model.body_inertia, data.xpos, data.xipos, data.xmat, data.ximat)
        with np.errstate(invalid="ignore"):
            worst = np.abs(np.hstack(columns)).max(axis=1)
        for name, largest in zip(self.names, worst, strict=True):
            if not largest <= LARGEST_NUMBER:
                raise InputError(
                    f"{self.path}: body {name}: mass, inertia and places are at most {LARGEST_NUMBER:g} in SI units, "
                    f"got {largest:g}"
                )

    def _custom(self) -> dict[str, Array]:
        """Custom numbers by name."""
        model = self.model
        found = {}
        for number in range(model.nnumeric):
            start, size = int(model.numeric_adr[number]), int(model.numeric_size[number])
            name = self._name(self.mj.mjtObj.mjOBJ_NUMERIC, number)
            found[name] = np.array(model.numeric_data[start : start + size])
        return found

    def _tensor(self, number: int) -> Array:
        """Inertia tensor (3, 3) of a body about its centre of mass, base axes; a custom one before MuJoCo's."""
        exact = self.custom.get(custom_name("inertia", self.names[number]))
        if exact is None:
            turn = self.data.ximat[number].reshape(3, 3)
            return np.asarray(turn @ np.diag(self.model.body_inertia[number]) @ turn.T)
        xx, yy, zz, xy, xz, yz = exact
        turn = self.data.xmat[number].reshape(3, 3)
        return np.asarray(turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T)

    def _beyond(self, fields: tuple[str, ...], joint: str) -> dict[str, Any]:
        """Fields of a joint or its drive that are custom numbers."""
        given = {field: self.custom.get(custom_name(field, joint)) for field in fields}
        return {
            field: values.reshape(-1, 2).tolist() if field == "force_speed" else float(values[0])
            for field, values in given.items()
            if values is not None
        }

    def linkage(self) -> Linkage:
        model, data = self.model, self.data
        bodies: dict[str, Body] = {BASE: EMPTY_BODY}
        marks = {}
        for number, name in enumerate(self.names):
            marks[name] = Mark(name, pose_of(data.xmat[number].reshape(3, 3), data.xpos[number]))
            if number:
                bodies[name] = body(model.body_mass[number], data.xipos[number], self._tensor(number))
        for number in range(model.nsite):
            name = self._name(self.mj.mjtObj.mjOBJ_SITE, number)
            if name and name not in marks:
                where = pose_of(data.site_xmat[number].reshape(3, 3), data.site_xpos[number])
                marks[name] = Mark(self.names[model.site_bodyid[number]], where, only=True)
        drives = self._drives()
        joints: list[ChainJoint] = []
        for number in range(1, model.nbody):
            joints += self._joints_of(number, drives, bodies)
        if self.passive_armatures:
            passive, values = ", ".join(self.passive_armatures), sorted(set(self.passive_armatures.values()))
            self.remarks.append(
                f"armature ({values[0]:.4g} to {values[-1]:.4g}) of the passive joints {passive} was left out: "
                "only actuated joints have rotors"
            )
        seats: dict[str, tuple[Array, Array]] = {}
        joints += self._loops(seats)
        if model.body_gravcomp.any():
            lifted = [name for name, part in zip(self.names, model.body_gravcomp, strict=True) if part]
            self.remarks.append(f"gravity compensation of {', '.join(lifted)} is part of a controller: left out")
        self._tendons(marks)
        name = re.sub(r"[^\w-]+", "-", model.names[: model.names.index(b"\0")].decode() or self.path.stem)
        gravity = tuple(float(x) for x in model.opt.gravity)
        return Linkage(
            name, bodies, tuple(joints), marks, seats, gravity, self._platform(), self.path.name, tuple(self.remarks),
            tuple(self.odd_actuators), tuple(self.relations), tuple(self.elements),
        )  # fmt: skip

    def _platform(self) -> str | None:
        for number in range(self.model.ntext):
            if self._name(self.mj.mjtObj.mjOBJ_TEXT, number) == PLATFORM_KEY:
                start = self.model.text_adr[number]
                text = bytes(self.model.text_data)[start : start + self.model.text_size[number]]
                return text.rstrip(b"\0").decode()
        return None

    # -- actuators -----------------------------------------------------------------------------------------------------

    def _drives(self) -> dict[int, dict[str, Any]]:
        """What an actuated joint has beyond a passive one, by the joint's number."""
        model, found = self.model, {}
        servos = []
        for number in range(model.nu):
            name = self._name(self.mj.mjtObj.mjOBJ_ACTUATOR, number) or f"actuator{number}"
            if int(model.actuator_trntype[number]) not in (
                int(self.mj.mjtTrn.mjTRN_JOINT),
                int(self.mj.mjtTrn.mjTRN_JOINTINPARENT),
            ):
                self.odd_actuators.append(f"actuator {name}: it does not act on a joint, which polypod requires")
                continue
            joint = int(model.actuator_trnid[number, 0])
            if joint in found:
                self.odd_actuators.append(f"actuator {name}: its joint already has an actuator")
                continue
            motor = int(model.actuator_gaintype[number]) == int(self.mj.mjtGain.mjGAIN_FIXED)
            motor = motor and not model.actuator_biasprm[number].any()
            if not motor:
                servos.append(name)
            ratio = float(model.actuator_gear[number, 0])
            if ratio == 0.0:
                self.odd_actuators.append(f"actuator {name}: its gear is 0, so it drives nothing")
                continue
            found[joint] = {"actuated": True, "ratio": ratio, **self._limit(number, name, motor)}
        if servos:
            self.remarks.append(f"gains of the servo actuators {', '.join(servos)} are part of a controller: left out")
        return found

    def _limit(self, number: int, name: str, motor: bool) -> dict[str, float]:
        """The largest force before the gear that an actuator's force range, and a motor's gain and control, allow."""
        model, ranges = self.model, []
        if model.actuator_forcelimited[number]:
            ranges.append(model.actuator_forcerange[number])
        integrates = int(model.actuator_dyntype[number]) == int(self.mj.mjtDyn.mjDYN_INTEGRATOR)
        if motor and model.actuator_ctrllimited[number] and not integrates:
            ranges.append(model.actuator_gainprm[number, 0] * model.actuator_ctrlrange[number])
        limits = []
        for low, high in map(sorted, ranges):
            if low < 0.0 < high:
                limits.append(min(-low, high))
            elif low < high:
                limits.append(max(-low, high))
                self.remarks.append(f"actuator {name}: its force has one sign only in the file; polypod allows both")
        return {"max_force": float(min(limits))} if limits else {}

    # -- joints --------------------------------------------------------------------------------------------------------

    def _joints_of(self, number: int, drives: dict[int, dict[str, Any]], bodies: dict[str, Body]) -> list[ChainJoint]:
        """Joints between a body and its parent; massless bodies stand between several."""
        model = self.model
        name, parent = self.names[number], self.names[model.body_parentid[number]]
        start, count = int(model.body_jntadr[number]), int(model.body_jntnum[number])
        if count == 0:
            data = {"name": f"{name} on {parent}", "kind": "fixed", "between": (parent, name)}
            return [checked_joint(data | {"at": tuple(self.data.xpos[number].tolist())})]
        joints = []
        for place in range(count):
            last = place == count - 1
            here = name if last else f"{name}~{place + 1}"
            added = self._joint(start + place, (parent, here), drives.get(start + place))
            if added is None:
                continue
            if not last:
                bodies[here] = body(0.0, self.data.xanchor[start + place], np.zeros((3, 3)))
            joints.append(added)
            parent = here
        return joints

    def _joint(self, number: int, between: tuple[str, str], drive: dict[str, Any] | None) -> ChainJoint | None:
        model = self.model
        kind = _KINDS[int(model.jnt_type[number])]
        if kind == "free":
            return None  # no joint at all: loops hold the body, or nothing does
        name = self._name(self.mj.mjtObj.mjOBJ_JOINT, number) or f"joint{number}"
        dof, qpos = int(model.jnt_dofadr[number]), int(model.jnt_qposadr[number])
        data: dict[str, Any] = {"name": name, "kind": kind, "between": between}
        data["at"] = tuple(self.data.xanchor[number].tolist())
        friction = {"viscous": float(model.dof_damping[dof]), "drag": float(model.dof_frictionloss[dof])}
        friction |= self._beyond(BEYOND_FRICTION, name)
        if any(friction.values()):
            data["friction"] = friction
        self._spring(number, data, drive is not None)
        armature = float(model.dof_armature[dof])
        if kind == "spherical":
            if drive is not None:
                self.odd_actuators.append(f"joint {name}: a ball joint is actuated, which polypod cannot represent")
            if armature:
                self.passive_armatures[name] = armature
            if model.jnt_limited[number]:
                largest = np.degrees(model.jnt_range[number, 1])
                self.remarks.append(f"joint {name}: its limit of {largest:.4g} deg total rotation was left out")
            return checked_joint(data)
        data["axis"] = tuple(self.data.xaxis[number].tolist())
        reference = float(model.qpos0[qpos])
        if model.jnt_limited[number]:
            low, high = (float(x) - reference for x in model.jnt_range[number])
            if low < high:
                data["range"] = (low, high)
        if drive is not None:
            ratio = drive.get("ratio", 1.0)
            data |= drive | {"rotor": armature / ratio**2, "offset": ratio * reference}
            data |= self._beyond(BEYOND_DRIVE, name)
            if "range" in data:
                data["range"] = tuple(sorted(ratio * (limit + reference) for limit in data["range"]))
        elif armature:
            self.passive_armatures[name] = armature
        return checked_joint(data)

    def _spring(self, number: int, data: dict[str, Any], driven: bool) -> None:
        """A joint's spring: its own stiffness where it is passive and relaxed at home, else an element."""
        model, stiffness = self.model, float(np.ravel(self.model.jnt_stiffness[number])[0])
        if not stiffness:
            return
        start = int(model.jnt_qposadr[number])
        count = 4 if data["kind"] == "spherical" else 1
        rest = model.qpos_spring[start : start + count] - model.qpos0[start : start + count]
        relaxed = np.abs(rest).max() <= 1e-12
        if relaxed and not driven:
            data["stiffness"] = stiffness
        elif count == 1:
            spring = {"kind": "spring", "name": data["name"], "joint": data["name"], "rest": float(rest[0])}
            self.elements.append(spring | {"stiffness": stiffness})
        else:
            self.remarks.append(f"joint {data['name']}: its spring was left out, as it is not relaxed at home")

    def _tendons(self, marks: dict[str, Mark]) -> None:
        """Springs and dampers along the line between two sites."""
        model = self.model
        for number in range(model.ntendon):
            stiffness, damping = (float(np.ravel(part[number])[0]) for part in (model.tendon_stiffness,
                                                                                model.tendon_damping))  # fmt: skip
            name = self._name(self.mj.mjtObj.mjOBJ_TENDON, number) or f"tendon{number + 1}"
            start, count = int(model.tendon_adr[number]), int(model.tendon_num[number])
            sites = [int(k) for k in model.wrap_objid[start : start + count]]
            kinds = {int(kind) for kind in model.wrap_type[start : start + count]}
            low, high = (float(x) for x in model.tendon_lengthspring[number])
            why = ""
            if kinds != {int(self.mj.mjtWrap.mjWRAP_SITE)} or count != 2:
                why = "it is not a straight line between two sites"
            elif stiffness and high > low:
                why = f"it is slack from {low:.4g} to {high:.4g} m"
            elif not (stiffness or damping):
                why = "it has no stiffness and no damping"
            if why:
                self.remarks.append(f"tendon {name} was left out: {why}")
                continue
            if model.tendon_limited[number] or model.tendon_frictionloss[number]:
                self.remarks.append(f"tendon {name}: its limits and dry friction were left out")
            ends = tuple(f"tendon {name} {k}" for k in (1, 2))
            for end, site in zip(ends, sites, strict=True):
                where = pose_of(self.data.site_xmat[site].reshape(3, 3), self.data.site_xpos[site])
                marks[end] = Mark(self.names[model.site_bodyid[site]], where, only=True)
            law = {"kind": "spring", "stiffness": stiffness, "length": low} if stiffness else {"kind": "damper"}
            self.elements.append({"name": name, "marks": ends, **law, **({"damping": damping} if damping else {})})

    # -- loops ---------------------------------------------------------------------------------------------------------

    def _loops(self, seats: dict[str, tuple[Array, Array]]) -> list[ChainJoint]:
        model, joints = self.model, []
        points: dict[tuple[str, str], list[tuple[str, Array, Array]]] = {}
        for number in range(model.neq):
            if not self.data.eq_active[number]:
                continue
            kind = int(model.eq_type[number])
            name = self._name(self.mj.mjtObj.mjOBJ_EQUALITY, number) or f"loop{number + 1}"
            if kind in (int(self.mj.mjtEq.mjEQ_JOINT), int(self.mj.mjtEq.mjEQ_TENDON)):
                self.relations.append(self._relation(number, kind, name))
                continue
            if kind not in (int(self.mj.mjtEq.mjEQ_CONNECT), int(self.mj.mjtEq.mjEQ_WELD)):
                raise InputError(
                    f"equality {name}: only connect and weld can close loops, joint and tendon couple joints"
                )
            ends, frames = self._ends(number, kind)
            if kind == int(self.mj.mjtEq.mjEQ_WELD):
                at = tuple(frames[0][:3, 3].tolist())
                joints.append(checked_joint({"name": name, "kind": "fixed", "between": ends, "at": at}))
                seats[name] = frames
            else:
                forward = ends not in points and ends[::-1] in points
                key, pair = (ends[::-1], frames[::-1]) if forward else (ends, frames)
                points.setdefault(key, []).append((name, pair[0], pair[1]))
        for ends, listed in points.items():
            joints.append(_connected(ends, listed, seats))
        return joints

    def _relation(self, number: int, kind: int, name: str) -> LinkedRelation:
        """Two joints of an equality, or those of a fixed tendon, if it is a linear relation about home."""
        model = self.model
        one, two = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
        constant, slope, *rest = (float(x) for x in model.eq_data[number][:5])
        terms: list[tuple[int, float]] = []
        if kind == int(self.mj.mjtEq.mjEQ_JOINT) and two >= 0:
            terms = [(one, 1.0), (two, -slope)]
        elif kind == int(self.mj.mjtEq.mjEQ_TENDON) and two < 0:
            start, count = int(model.tendon_adr[one]), int(model.tendon_num[one])
            if all(int(model.wrap_type[k]) == int(self.mj.mjtWrap.mjWRAP_JOINT) for k in range(start, start + count)):
                terms = [(int(model.wrap_objid[k]), float(model.wrap_prm[k])) for k in range(start, start + count)]
        hinge, slide = int(self.mj.mjtJoint.mjJNT_HINGE), int(self.mj.mjtJoint.mjJNT_SLIDE)
        motions = {hinge: "rotation", slide: "translation"}
        kinds = [int(model.jnt_type[joint]) for joint, _ in terms]
        if not terms or constant or any(rest) or any(k not in motions for k in kinds) or not all(f for _, f in terms):
            raise InputError(
                f"equality {name}: polypod couples hinges and slides by a linear relation about home (polycoef: 0 and "
                "a factor, or a fixed tendon of constant length); this is another one",
                code="gear",
            )
        names = [self._name(self.mj.mjtObj.mjOBJ_JOINT, joint) or f"joint{joint}" for joint, _ in terms]
        return LinkedRelation(
            name, tuple(LinkedTerm(n, motions[k], f) for n, k, (_, f) in zip(names, kinds, terms, strict=True))
        )

    def _ends(self, number: int, kind: int) -> tuple[tuple[str, str], tuple[Array, Array]]:
        """Bodies and frames (4, 4) at qpos0 that an equality holds together."""
        model, numbers = self.model, (int(self.model.eq_obj1id[number]), int(self.model.eq_obj2id[number]))
        if int(model.eq_objtype[number]) == int(self.mj.mjtObj.mjOBJ_SITE):
            one, two = (self.names[model.site_bodyid[k]] for k in numbers)
            poses = [pose_of(self.data.site_xmat[k].reshape(3, 3), self.data.site_xpos[k]) for k in numbers]
            return (one, two), (poses[0], poses[1])
        data = model.eq_data[number]
        frames = [pose_of(self.data.xmat[k].reshape(3, 3), self.data.xpos[k]) for k in numbers]
        if kind == int(self.mj.mjtEq.mjEQ_CONNECT):
            relative = [pose_of(np.eye(3), data[:3]), pose_of(np.eye(3), data[3:6])]
        else:
            turn = np.zeros(9)
            self.mj.mju_quat2Mat(turn, data[6:10])
            # body 2 in body 1 is relpose; the anchor is a point of body 2
            anchor = pose_of(np.eye(3), data[:3])
            relative = [pose_of(turn.reshape(3, 3), data[3:6]) @ anchor, anchor]
        one, two = (self.names[k] for k in numbers)
        return (one, two), (frames[0] @ relative[0], frames[1] @ relative[1])


def _connected(
    ends: tuple[str, str], listed: list[tuple[str, Array, Array]], seats: dict[str, tuple[Array, Array]]
) -> ChainJoint:
    """The joint that points of two bodies which stay together make."""
    name = listed[0][0]
    spots = [np.array([frames[side][:3, 3] for frames in (entry[1:] for entry in listed)]) for side in (0, 1)]
    offsets, middles = [spot - spot[0] for spot in spots], [spot.mean(axis=0) for spot in spots]
    rank = int(np.linalg.matrix_rank(offsets[0], tol=1e-9 * max(float(np.abs(offsets[0]).max()), 1e-300)))
    if not np.abs(offsets[0]).max() > 0.0:
        rank = 0
    kind = ("spherical", "revolute", "fixed")[min(rank, 2)]
    data: dict[str, Any] = {"name": name, "kind": kind, "between": ends, "at": tuple(middles[0].tolist())}
    turns = [np.eye(3), np.eye(3)]
    if kind == "revolute":
        far = int(np.argmax(np.linalg.norm(offsets[0], axis=1)))
        turns = [axes_about(offset[far]) for offset in offsets]
        data["axis"] = tuple(turns[0][:, 0].tolist())
    elif kind == "fixed":
        turns = [_axes_through(offset) for offset in offsets]
    seats[name] = pose_of(turns[0], middles[0]), pose_of(turns[1], middles[1])
    return checked_joint(data)


def _axes_through(offsets: Array) -> Array:
    """Axes (3, 3) of points: towards the first that is off, and in the plane of the next."""
    first = next(x for x in offsets if np.linalg.norm(x) > 0.0)
    x = first / np.linalg.norm(first)
    across = max((y - (y @ x) * x for y in offsets), key=lambda y: float(np.linalg.norm(y)))
    y = across / np.linalg.norm(across)
    return np.column_stack([x, y, np.cross(x, y)])
