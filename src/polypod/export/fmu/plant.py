"""The robot itself: forces in, motion out, by the simulation's own functions.

Co-simulation takes steps of RK4 at constant inputs, as ``polypod simulate`` does between two samples; model exchange
leaves the integration of pose and twist to the importer.
"""

from __future__ import annotations

from dataclasses import replace

from ...datasets import COMPONENTS
from ...friction import INSTANT
from ...simulation import kernels as graphs
from ...simulation.arguments import STEP
from ...simulation.chart import Layout
from ...simulation.dynamics import Dynamics
from ...simulation.system import STICK_TIME, System
from ...symbols.integration import MAX_PHASE
from .build import Build, ModelCode, with_outputs
from .motion import RATES, add_motion, add_pose, motion_lines
from .variables import Role

WRENCH = ("N",) * 3 + ("N m",) * 3
_CHARTED = """static void charted(const double *frame, const double *rest, double *base, double *chart)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            base[3 * i + j] = frame[4 * i + j];
        chart[i] = frame[4 * i + 3];
        chart[3 + i] = 0.0;
        chart[6 + MOVING + i] = 0.0;
    }
    memcpy(chart + 6, rest, MOVING * sizeof *rest);
}
"""


def plant(build: Build) -> ModelCode:
    """Forces and wrench in; pose, twist, coordinates and rates out."""
    model, variables, n = build.model, build.variables, len(build.actuators)
    variables.add("force", "input", build.actuators, [a.force_unit for a in model.actuators], "actuator force")
    loads = not model.robot.flexible or (
        model.modes.origin_shape is not None and model.modes.origin_rotation is not None
    )
    if loads:  # else the modes have no shape for it
        variables.add("wrench", "input", COMPONENTS, WRENCH, "external wrench on the platform, base axes")
    add_motion(build, "start.", "parameter", acceleration=False)
    longest = STEP
    if model.robot.flexible:
        longest = _add_shape(build, "start.", "parameter")
    variables.add("step", "parameter", [""], "s", "longest step of RK4 within a communication step", longest, 1e-9)
    build.add_parameters()
    add_pose(build, "", "state")
    variables.add("twist", "state", COMPONENTS, RATES, "twist of the platform, base axes")
    if model.robot.flexible:
        _add_shape(build, "", "state")
    variables.add("q", "output", build.actuators, [a.unit for a in model.actuators], "actuated coordinate")
    variables.add("qdot", "output", build.actuators, [a.rate_unit for a in model.actuators], "its rate")
    variables.add_derivatives()

    dynamics = Dynamics(build.mechanism, model.kernels.options.dry, build.friction)
    modes = dynamics.modes
    layout, moving = Layout(modes, n), 6 + 2 * modes
    row, state, chart = layout.state_size + 2 * n, layout.state_size, layout.chart_size
    rate = build.function("chart_rate", graphs.chart_rate(dynamics))
    dry = any(p.name == "friction" for p in rate.inputs)
    places = dynamics.place_count
    build.function("snapshot", with_outputs(graphs.snapshot(dynamics), row=row, quality=0, places=0))
    period = with_outputs(graphs.period(dynamics), row=row, inner=0, quality=0, converged=0)
    first, *others = period.inputs  # its loop has a state of its own in C
    build.function("period", replace(period, inputs=(replace(first, name="beginning"), *others)))
    inner = dynamics.friction_size + (places + 1 if places else 0)
    here = [f"double base[9], chart[{chart}], row[{row}];"]
    seen = build.call("snapshot", "pose", base="base", chart="chart", row="row")
    start = [
        *motion_lines(build, "start.", acceleration=False),
        *here,
        "double rest[MOVING];",
        "memcpy(rest, twist, 6 * sizeof *rest);",
        *([f"memcpy(rest + 6, {variables.at('start.elastic')}, {2 * modes} * sizeof *rest);"] if modes else []),
        "charted(pose, rest, base, chart);",
        *seen,
        f"memset(m->memory, 0, {state + inner} * sizeof *m->memory);",
        f"memcpy(m->memory, row, {state} * sizeof *row);",
        *(
            [f"memcpy(m->memory + {state + dynamics.friction_size}, snapshot_places, {places} * sizeof *row);"]
            if places
            else []
        ),
        "published(m, row);",
        "return FINE;",
    ]
    wrench = variables.at("wrench") if loads else "zeros"
    instant = {"friction": "zeros", "stage": "&instant", "tau": "&stick"} if dry else {}
    evaluate = [
        "if (!m->exchange)",
        "    return FINE;",
        "double pose[16];",
        f'if (pose_of(m, "orientation", {variables.at("position")}, {variables.at("orientation")}, pose) != FINE)',
        "    return MISUSE;",
        *here,
        f"charted(pose, {variables.at('twist')}, base, chart);",
        *seen,
        *([f"const double instant = {float(INSTANT)!r}, stick = {STICK_TIME!r};"] if dry else []),
        "charted(row, row + 12, base, chart);",
        *build.call(
            "chart_rate", "pose", base="base", chart="chart", force=variables.at("force"),
            wrench=wrench, **instant,
        ),
        f"memcpy({variables.at('q')}, row + {state}, {2 * n} * sizeof *row);",
        f"double *rate = {variables.at('derivatives')};",
        f"const double *turn = {variables.at('orientation')}, *w = row + 15;",
        "memcpy(rate, row + 12, 3 * sizeof *row);",
        "for (int i = 0; i < 3; i++) {",
        "    const int j = (i + 1) % 3, k = (i + 2) % 3;",
        "    rate[3 + i] = 0.5 * (turn[3] * w[i] + w[j] * turn[k] - w[k] * turn[j]);",
        "}",
        "rate[6] = -0.5 * (w[0] * turn[0] + w[1] * turn[1] + w[2] * turn[2]);",
        "memcpy(rate + 7, chart_rate_rate + 6, MOVING * sizeof *rate);",
        "return FINE;",
    ]  # fmt: skip
    more = {"inner": f"m->memory + {state}", "inner_found": "inner"} if inner else {}
    step = [
        "if (step <= 0.0)",
        "    return FINE;",
        f"const double many = ceil(step / *({variables.at('step')}) * (1.0 - 1e-9));",
        "const double count = many < 1.0 ? 1.0 : many, length = step / count;",
        f"double row[{row}]{f', inner[{inner}]' if inner else ''};",
        "const double *pose = before(m);",
        *build.call(
            "period", "pose", beginning="m->memory", force=variables.at("force"), wrench=wrench,
            step="&length", count="&count", row="row", **more,
        ),
        f"memcpy(m->memory, row, {state} * sizeof *row);",
        *([f"memcpy(m->memory + {state}, inner, sizeof inner);"] if inner else []),
        "published(m, row);",
        "return FINE;",
    ]  # fmt: skip
    published = [
        "static void published(Instance *m, const double *row)",
        "{",
        "    for (int i = 0; i < 3; i++)",
        f"        ({variables.at('position')})[i] = row[4 * i + 3];",
        f"    orientation_of(row, {variables.at('orientation')});",
        f"    memcpy({variables.at('twist')}, row + 12, MOVING * sizeof *row);",
        f"    memcpy({variables.at('q')}, row + {state}, {2 * n} * sizeof *row);",
        "}",
        "",
        "/* The pose at the beginning of a step: its legs say what is near its limit. */",
        "static const double *before(Instance *m)",
        "{",
        f"    double *pose = m->memory + {state + inner};",
        "    memcpy(pose, m->memory, 12 * sizeof *pose);",
        "    pose[12] = pose[13] = pose[14] = 0.0;",
        "    pose[15] = 1.0;",
        "    return pose;",
        "}",
        "",
    ]
    return ModelCode(
        start,
        evaluate,
        step,
        state + inner + 16,
        "\n".join([f"enum {{ MOVING = {moving} }}; /* twist and elastic state */\n", _CHARTED, *published]),
    )


def _add_shape(build: Build, prefix: str, role: Role) -> float:
    """Elastic coordinates and rates, at rest at home unless set; gives the longest step that the modes allow [s]."""
    system = System(build.model, build.friction)
    home = build.model.robot.home.matrix
    shape, _ = system.static_equilibrium(home)
    names = [f"mode{k + 1}" for k in range(system.modes)]
    build.variables.add(f"{prefix}elastic", role, names, "1", "elastic coordinate, in the units of its mode", shape)
    build.variables.add(f"{prefix}elastic_rate", role, names, "1/s", "its rate")
    return min(STEP, MAX_PHASE / system.fastest_rate(home, shape))
