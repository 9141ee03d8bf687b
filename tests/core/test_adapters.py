"""Dynamics in PyTorch and JAX: gradients against their own differences and against the derivatives of the model."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.adapters import Differentiable
from polypod.errors import InputError, StateError, StateWarning, UnknownNameError
from polypod.files import dumps
from support.refusals import refused, warned
from test_export_c import flexible

NUMBERS = ("platform.mass", "platform.com", "gravity", "legs.1.rail_direction")
ORDER = ("pose", "twist", "acceleration", "wrench")
# Both are derivatives in closed form by other ways: rounding, times the condition number (below 100 here).
ROUNDING = 1e-13
# Central differences in double precision with steps of 1e-5: 1e-11 of rounding, 1e-10 of the step, of larger numbers.
STEP, DIFFERENCE = 1e-5, 1e-7


@pytest.fixture(scope="module")
def lopes() -> pp.Model:
    """Six degrees of freedom, viscous friction, numbers of every kind."""
    return pp.Model("lopes")


@pytest.fixture(scope="module")
def states(lopes: pp.Model) -> dict[str, Any]:
    """Three states near home, as inputs of inverse dynamics; the force that belongs to them."""
    draw, count = np.random.default_rng(5), 3
    pose = np.tile(lopes.robot.home.matrix, (count, 1, 1))
    pose[:, :3, 3] += 0.05 * lopes.size * draw.normal(size=(count, 3))
    pose[:, :3, :3] = Rotation.from_rotvec(0.1 * draw.normal(size=(count, 3))).as_matrix() @ pose[:, :3, :3]
    twist, acceleration, wrench = draw.normal(size=(3, count, 6))
    force = lopes.inverse_dynamics(pose, twist, acceleration, wrench)
    return {"pose": pose, "twist": twist, "acceleration": acceleration, "wrench": wrench, "force": force}


def flexible_platform() -> tuple[pp.Model, tuple[int, ...]]:
    """A flexible platform: elastic coordinates among the inputs, their accelerations among the results."""
    return flexible(), tuple(range(6))


def redundant() -> tuple[pp.Model, tuple[int, ...]]:
    """More actuators than degrees of freedom, which are x, y and the angle about z."""
    return pp.Model("planar-4-rrr"), (0, 1, 5)


def iterated() -> tuple[pp.Model, tuple[int, ...]]:
    """Legs that close by Newton's iteration, on a platform that follows them."""
    robot = pp.load("planar-3-rrr")
    legs = tuple(leg.model_copy(update={"closing": "newton"}) for leg in robot.legs)
    model = pp.Model(pp.loads(dumps(robot.model_copy(update={"legs": legs}))))
    assert model.kernels.mechanism.implicit_legs
    return model, (0, 1, 5)


def with_dry_friction() -> tuple[pp.Model, tuple[int, ...]]:
    """Dry friction that depends on reactions, spread over some speed: it has derivatives."""
    return pp.Model("kim-ryu", friction_width=0.3), tuple(range(6))


SIZES = {
    "pose": 1e-3, "twist": 0.1, "acceleration": 0.1, "force": 30.0, "wrench": 1.0, "platform.mass": 1.0,
    "elastic": 1e-5, "elastic_rate": 1e-3,
}  # fmt: skip
SLOW = "friction by reactions"
OTHERS = {"flexible": flexible_platform, "redundant": redundant, "iterated": iterated, SLOW: with_dry_friction}


def derivatives_by_force(model: pp.Model, states: dict[str, Any]) -> Any:
    """d(acceleration)/d(force) in one pose with several forces."""
    pose, twist, force = states["pose"][0], states["twist"][0], states["force"]
    return model.derivatives("direct_dynamics", pose, twist, force, wrt=("force",)).force


def leaves_of(*tensors: Any) -> list[Any]:
    """Copies by which there are gradients."""
    return [tensor.detach().clone().requires_grad_() for tensor in tensors]


def as_twist(pose: Any, gradient: Any) -> Any:
    """The gradient by a twist on the left from that by the numbers of a pose, as the docstring has it."""
    turn = sum(np.cross(pose[..., :3, k], gradient[..., :3, k]) for k in range(3))
    return np.concatenate([gradient[..., :3, 3], turn], axis=-1)


@pytest.fixture(scope="module")
def jacobians(lopes: pp.Model, states: dict[str, Any]) -> Any:
    """The model's own derivatives of inverse dynamics."""
    return lopes.derivatives("inverse_dynamics", *(states[key] for key in ORDER), parameters=NUMBERS)


def assert_products(jacobians: Any, states: dict[str, Any], weight: Any, gradients: dict[str, Any]) -> None:
    """Gradients of sum(weight * force) are the weight times the Jacobians of the model."""
    for key in ORDER:
        jacobian = getattr(jacobians, key)
        got = as_twist(states["pose"], gradients[key]) if key == "pose" else gradients[key]
        expected = np.einsum("ni,nij->nj", weight, jacobian)
        assert np.abs(got - expected).max() <= ROUNDING * np.abs(jacobian).max() * np.abs(weight).max(), key
    assert not gradients["pose"][..., 3, :].any()
    expected = np.einsum("ni,nij->j", weight, jacobians.parameters)
    got = np.concatenate([np.ravel(gradients[path]) for path in NUMBERS])
    assert np.abs(got - expected).max() <= 1e-11 * np.abs(expected).max()  # directions: differences, 1e-13 each


class TestTorch:
    """``model.torch``."""

    torch: Any

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        TestTorch.torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra torch)")

    def test_gradients(self, lopes: pp.Model, states: dict[str, Any], jacobians: Any) -> None:
        """Of forces by pose, twist, acceleration, wrench, numbers: gradcheck, and the model's Jacobians."""
        torch = self.torch
        function = lopes.torch("inverse_dynamics", parameters=NUMBERS)
        given = [torch.from_numpy(states[key]) for key in ORDER]
        own = [torch.from_numpy(lopes.parameters(path)[path]) for path in NUMBERS]

        def call(move: Any, *rest: Any) -> Any:
            pose = function.displaced(given[0], move)
            return function(pose, *rest[:3], parameters=dict(zip(NUMBERS, rest[3:], strict=True)))

        leaves = leaves_of(torch.zeros(3, 6, dtype=torch.float64), *given[1:], *own)
        assert torch.autograd.gradcheck(call, leaves, eps=STEP, atol=DIFFERENCE, rtol=DIFFERENCE, fast_mode=True)

        weight = np.random.default_rng(1).normal(size=(3, 6))
        leaves = leaves_of(*given, *own)
        result = function(*leaves[:4], parameters=dict(zip(NUMBERS, leaves[4:], strict=True)))
        assert np.abs(result.detach().numpy() - states["force"]).max() <= ROUNDING * np.abs(states["force"]).max()
        result.backward(torch.from_numpy(weight))
        found = {key: leaf.grad.numpy() for key, leaf in zip((*ORDER, *NUMBERS), leaves, strict=True)}
        assert_products(jacobians, states, weight, found)

    def test_direct_dynamics_and_maps(self, lopes: pp.Model, states: dict[str, Any]) -> None:
        """gradcheck; mapped over states and over all rows of the Jacobian it is the model's Jacobian."""
        torch = self.torch
        function = lopes.torch("direct_dynamics")
        pose, twist, force, wrench = (torch.from_numpy(states[key]) for key in ("pose", "twist", "force", "wrench"))
        leaves = leaves_of(torch.zeros(3, 6, dtype=torch.float64), twist, force, wrench)

        def call(move: Any, *rest: Any) -> Any:
            return function(function.displaced(pose, move), *rest)

        assert torch.autograd.gradcheck(call, leaves, eps=STEP, atol=DIFFERENCE, rtol=DIFFERENCE, fast_mode=True)
        rows = torch.func.jacrev(lambda f, p: function(p, twist[0], f))
        jacobian = torch.func.vmap(rows, in_dims=(0, None))(force, pose[0]).numpy()
        wanted = derivatives_by_force(lopes, states)
        assert np.abs(jacobian - wanted).max() <= ROUNDING * np.abs(wanted).max()

    def test_through_quaternions(self, lopes: pp.Model, states: dict[str, Any]) -> None:
        """A pose made of a quaternion that is normalised in the program: the gradient is that of the whole."""
        torch = self.torch
        function = lopes.torch("inverse_dynamics")
        still = torch.zeros(6, dtype=torch.float64)
        position = torch.from_numpy(states["pose"][:, :3, 3])

        def force(quaternion: Any) -> Any:
            x, y, z, w = (quaternion / quaternion.norm(dim=-1, keepdim=True)).unbind(-1)
            rows = [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), position[:, 0],
                    2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), position[:, 1],
                    2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), position[:, 2]]  # fmt: skip
            last = [torch.zeros_like(x)] * 3 + [torch.ones_like(x)]
            return function(torch.stack([*rows, *last], dim=-1).reshape(-1, 4, 4), still, still)

        quaternion = torch.from_numpy(1.3 * Rotation.from_matrix(states["pose"][:, :3, :3]).as_quat()).requires_grad_()
        assert torch.autograd.gradcheck(force, [quaternion], eps=STEP, atol=DIFFERENCE, rtol=DIFFERENCE)

    def test_batches_designs_and_single_precision(self, lopes: pp.Model, states: dict[str, Any]) -> None:
        """Axes are broadcast and gradients summed over them; a design for each state; float32 in, float32 out."""
        torch = self.torch
        function = lopes.torch("inverse_dynamics", parameters=NUMBERS)
        pose, twist, acceleration = (torch.from_numpy(states[k]) for k in ("pose", "twist", "acceleration"))
        mass = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
        one = acceleration[0].clone().requires_grad_()
        force = function(pose[:, None], twist[0], one, parameters={"platform.mass": mass})
        wanted = lopes.inverse_dynamics(
            states["pose"][:, None], states["twist"][0], states["acceleration"][0], parameters={
                "platform.mass": np.array([1.0, 2.0, 3.0])}
        )  # fmt: skip
        assert force.shape == (3, 3, 6)
        assert np.abs(force.detach().numpy() - wanted).max() <= ROUNDING * np.abs(wanted).max()
        force.sum().backward()
        assert one.grad.shape == (6,)
        # forces are linear in the mass: a difference is exact
        more = lopes.inverse_dynamics(
            states["pose"][:, None], states["twist"][0], states["acceleration"][0], parameters={
                "platform.mass": np.array([2.0, 3.0, 4.0])}
        )  # fmt: skip
        assert np.abs(mass.grad.numpy() - (more - wanted).sum(axis=(0, 2))).max() <= 1e-11 * np.abs(wanted).max()
        single = function(pose.float(), twist.float(), acceleration.float())
        assert single.dtype == torch.float32
        double = lopes.inverse_dynamics(states["pose"], states["twist"], states["acceleration"])
        assert np.abs(single.numpy() - double).max() <= 1e-5 * np.abs(double).max()
        assert function(pose[:0], twist[:0], acceleration[:0]).shape == (0, 6)

    def test_states_without_an_answer(self, lopes: pp.Model, states: dict[str, Any]) -> None:
        """NaN in their rows, forward and backward, and a word; other rows are as they were."""
        torch = self.torch
        function = lopes.torch("inverse_dynamics")
        far = states["pose"].copy()
        far[1, 0, 3] += 50.0
        still = torch.zeros(6, dtype=torch.float64)
        pose = torch.from_numpy(far).requires_grad_()
        with warned(StateWarning, "1 3", code="leg"):
            force = function(pose, still, still)
        force.sum().backward()
        assert np.isnan(force.detach().numpy()).all(axis=1).tolist() == [False, True, False]
        assert np.isnan(pose.grad.numpy()).all(axis=(1, 2)).tolist() == [False, True, False]
        with pytest.raises(StateError):
            function(pose[1].detach(), still, still)
        twist = still.clone().requires_grad_()
        force = function(torch.from_numpy(states["pose"]), twist, still)
        (slope,) = torch.autograd.grad(force.sum(), twist, create_graph=True)
        with refused(InputError, "torch", code="second_derivatives"):
            torch.autograd.grad(slope.sum(), twist)

    @pytest.mark.long
    def test_platforms_that_follow_their_legs(self) -> None:
        """Their motions cannot change one by one; wrench and masses can."""
        torch = self.torch
        model = pp.Model("five-bar")
        function = model.torch("inverse_dynamics", parameters=("platform.mass",))
        pose, twist, acceleration = (
            torch.from_numpy(a) for a in model.motion(*0.01 * np.arange(1.0, 7.0).reshape(3, 2))
        )
        mass = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
        force = function(pose, twist, acceleration, parameters={"platform.mass": mass})
        force.sum().backward()
        given = [a.numpy() for a in (pose, twist, acceleration)]
        more = [model.inverse_dynamics(*given, parameters={"platform.mass": value}).sum() for value in (2.0, 3.0)]
        assert float(mass.grad) == pytest.approx(more[1] - more[0], rel=1e-10)
        with refused(InputError, "pose wrench platform.mass"):
            function(pose.requires_grad_(), twist, acceleration)

    @pytest.mark.parametrize(
        ("kind", "name"),
        [
            *((kind, "inverse_dynamics") for kind in OTHERS if kind != SLOW),
            pytest.param(SLOW, "inverse_dynamics", marks=pytest.mark.long),
            *(pytest.param(kind, "direct_dynamics", marks=pytest.mark.long) for kind in OTHERS),
        ],
    )
    def test_robots_without_a_backward_sweep(self, kind: str, name: str) -> None:
        """gradcheck by all that can change; a mass other than the robot's own counts in both passes."""
        torch = self.torch
        from polypod.adapters.torch_function import TorchFunction

        model, axes = OTHERS[kind]()
        of = Differentiable(model, name, () if kind == "flexible" else ("platform.mass",))
        function, draw = TorchFunction(of), np.random.default_rng(4)
        along, home = torch.from_numpy(np.eye(6)[list(axes)]), torch.from_numpy(model.robot.home.matrix)
        starts: dict[str, Any] = {}
        for key, core in zip(of.inputs, of.cores, strict=True):
            moves = key in ("pose", "twist", "acceleration")
            if key in of.possible and not (kind == "flexible" and key == "wrench"):  # for which its modes have no shape
                starts[key] = SIZES[key] * torch.from_numpy(draw.normal(size=(2, len(axes)) if moves else (2, *core)))
        if "platform.mass" in starts:
            starts["platform.mass"] = starts["platform.mass"].abs() + 1.0

        def call(*leaves: Any) -> Any:
            given = dict(zip(starts, leaves, strict=True))
            still = torch.zeros(2, 6, dtype=torch.float64)
            moved = {key: given.pop(key) @ along for key in ("pose", "twist", "acceleration") if key in given}
            pose = function.displaced(home, moved.pop("pose", still))
            mass = {"platform.mass": given.pop("platform.mass")} if of.parameters else {}
            states = {key: still for key in of.state[1:3] if key != "force"} | moved | given
            return function(pose, **states, parameters=mass)

        leaves = leaves_of(*starts.values())
        largest = call(*leaves).detach().abs().max().item()
        assert torch.autograd.gradcheck(call, leaves, eps=1e-6, atol=1e-5 * largest, rtol=1e-5, fast_mode=True)


class TestJax:
    """``model.jax``."""

    jax: Any

    @pytest.fixture(autouse=True)
    def _installed(self) -> Any:
        TestJax.jax = pytest.importorskip("jax", reason="JAX is not installed (extra jax)")
        self.jax.config.update("jax_enable_x64", True)
        yield
        self.jax.config.update("jax_enable_x64", False)

    def test_gradients(self, lopes: pp.Model, states: dict[str, Any], jacobians: Any) -> None:
        """By pose, twist, acceleration, wrench, numbers: check_grads, the model's Jacobians, jit, vmap."""
        from jax.test_util import check_grads

        jax = self.jax
        function = lopes.jax("inverse_dynamics", parameters=NUMBERS)
        given = [states[key] for key in ORDER]
        own = [lopes.parameters(path)[path] for path in NUMBERS]

        @jax.jit
        def call(move: Any, *rest: Any) -> Any:
            pose = function.displaced(given[0], move)
            return function(pose, *rest[:3], parameters=dict(zip(NUMBERS, rest[3:], strict=True)))

        leaves = [np.zeros((3, 6)), *given[1:], *own]
        check_grads(call, leaves, order=1, modes=("rev",), eps=STEP, atol=DIFFERENCE, rtol=DIFFERENCE)

        weight = np.random.default_rng(1).normal(size=(3, 6))

        def loss(*leaves: Any) -> Any:
            result = function(*leaves[:4], parameters=dict(zip(NUMBERS, leaves[4:], strict=True)))
            return (weight * result).sum()

        found = jax.jit(jax.grad(loss, argnums=tuple(range(8))))(*given, *own)
        gradients = {key: np.asarray(one) for key, one in zip((*ORDER, *NUMBERS), found, strict=True)}
        assert_products(jacobians, states, weight, gradients)

    @pytest.mark.long
    def test_maps_and_direct_dynamics(self, lopes: pp.Model, states: dict[str, Any]) -> None:
        """A function of one state mapped over poses and over forces, and all rows of a Jacobian at once."""
        jax = self.jax
        function = lopes.jax("direct_dynamics")
        pose, twist, force = states["pose"], states["twist"][0], states["force"]
        every = jax.vmap(lambda p: jax.vmap(lambda f: function(p, twist, f))(force))(pose)
        wanted = lopes.direct_dynamics(pose[:, None], twist, force)
        assert np.array_equal(every, wanted)
        jacobian = jax.vmap(jax.jacrev(lambda f, p: function(p, twist, f)), in_axes=(0, None))(force, pose[0])
        wanted = derivatives_by_force(lopes, states)
        assert np.abs(jacobian - wanted).max() <= ROUNDING * np.abs(wanted).max()


@pytest.mark.parametrize(("library", "module"), [("torch", "torch_function"), ("jax", "jax_function")])
class TestBadInput:
    """Errors that say what is needed."""

    def test_names_and_shapes(self, lopes: pp.Model, states: dict[str, Any], library: str, module: str) -> None:
        """Unknown functions, inputs and numbers, and shapes."""
        pytest.importorskip(library)
        make = getattr(lopes, library)
        with refused(UnknownNameError, name="jacobian", known="inverse_dynamics"):
            make("jacobian")
        with refused(UnknownNameError, name="platform.mas", near="platform.mass"):
            make("inverse_dynamics", parameters=("platform.mas",))
        with refused(InputError, "parameters platform.mass"):
            make("inverse_dynamics", parameters="platform.mass")
        function = make("inverse_dynamics")
        pose, still = states["pose"][0], np.zeros(6)
        with refused(InputError, "pose (..., 4, 4) (3, 3)"):
            function(pose[:3, :3], still, still)
        with refused(InputError, "acceleration"):
            function(pose, still)
        with refused(UnknownNameError, name="platform.mass"):
            function(pose, still, still, parameters={"platform.mass": 1.0})
        with refused(UnknownNameError, name="wrenches", near="wrench"):
            function(pose, still, still, wrenches=still)

    def test_not_installed(self, lopes: pp.Model, monkeypatch: Any, library: str, module: str) -> None:
        """The error says what to install."""
        monkeypatch.setitem(sys.modules, library, None)
        monkeypatch.delitem(sys.modules, f"polypod.adapters.{module}", raising=False)
        with refused(InputError, f"polypod[{library}]"):
            getattr(lopes, library)("inverse_dynamics")
