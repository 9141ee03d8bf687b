// The robot's functions with arrays of their own, and a state of the robot with its verdict in words.

const { scene, ports } = data;

/** Internal coordinates of the robot, a part of every state beside the pose; zero at home. */
const inner = new Float64Array(scene.internal.length);
/** A twist or acceleration at rest, those of internal coordinates last. */
const still = () => new Float64Array(6 + inner.length);

/** model.name as a function of inputs by name; outputs by name. What is not given is zero, weights are one. */
const call = {};
const presets = {
  weights: size => new Float64Array(size).fill(1),
  parameters: () => Float64Array.from(data.numbers),
  internal: () => inner,
};
for (const [name, { inputs, outputs }] of Object.entries(ports)) {
  const given = inputs.map(([label, size]) => [label, presets[label]?.(size) ?? new Float64Array(size)]);
  const made = outputs.map(([label, size]) => [label, new Float64Array(size)]);
  const result = Object.fromEntries(made);
  const all = [...given, ...made].map(([, array]) => array);
  call[name] = values => {
    for (const [label, array] of given)
      if (values[label]) array.set(values[label]);
      else if (!presets[label]) array.fill(0);
    model[name](...all);
    return result;
  };
}

const unitText = { m: "mm", rad: "°" };
const unitSize = { m: 1e3, rad: 180 / Math.PI };
const shown = unit => unitText[unit] ?? unit;
const inShown = (value, unit) => value * (unitSize[unit] ?? 1);

/** A number with so many digits after the point as its size is worth; nothing that is not a number, no noise. */
function text(value, digits = 4) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size < 1e-9) return "0";
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2);
  const places = Math.max(0, Math.min(6, digits - 1 - Math.floor(Math.log10(size))));
  const made = value.toFixed(places);
  return Number(made) === 0 ? "0" : made;
}
/** A value with its unit as people read it: micrometres and thousandths of a degree are the last digits. */
const textShown = (value, unit) => {
  const there = inShown(value, unit);
  return text(unit in unitSize && Math.abs(there) < 5e-4 ? 0 : there) + (unit === "rad" ? "°" : " " + shown(unit));
};

/** All that the page shows of a state: { pose, twist, acceleration, wrench } -> q, force, bodies, limits, verdict.
 *
 * A ``given`` force, that of a simulation, takes the place of the one that the motion needs.
 */
function evaluate(motion) {
  const { margins } = call.margins(motion);
  const lost = [],
    legs = new Set();
  scene.conditions.forEach((condition, k) => {
    // what a leg loses after the first is only its consequence
    if (!(margins[2 * k] > scene.least_margin) && !legs.has(condition.leg)) {
      legs.add(condition.leg);
      const by = Math.abs(margins[2 * k + 1]);
      const amount = Number.isFinite(by) && by > 0 && condition.unit === "m" ? ` (by ${textShown(by, "m")})` : "";
      lost.push(`${scene.legs[condition.leg]}: ${condition.name}${amount}`);
    }
  });
  const state = { ...motion, reachable: lost.length === 0, lostLegs: legs, singular: false, q: null, force: null, uses: null };
  if (!state.reachable)
    return { ...state, limits: null, verdict: { level: "bad", title: "Out of reach", lines: lost } };
  state.q = call.inverse_kinematics(motion).q.slice();
  state.rate = Object.values(call.rates(motion))[0].slice();
  state.frames = framesOf(motion.pose, call.bodies(motion).bodies);
  const values = call.limited(motion).values;
  state.limits = scene.limits.map((limit, k) => {
    const value = limit.cosine ? Math.acos(Math.max(-1, Math.min(1, values[k + 1]))) : values[k + 1];
    return { value, over: !(value >= limit.low && value <= limit.high) };
  });
  const { condition, distance } = call.conditioning(motion);
  [state.condition, state.distance] = [condition[0], distance[0]];
  state.singular = !(state.distance > scene.least_margin);
  if (motion.given) state.force = state.singular ? null : motion.given;
  else {
    const dynamics = call.inverse_dynamics(motion);
    const solved = !dynamics.converged || dynamics.converged[0] !== 0;
    state.singular ||= !(dynamics.quality[0] > scene.least_margin);
    if (!state.singular && solved && dynamics.force.every(Number.isFinite)) state.force = dynamics.force.slice();
  }
  state.used = used(state, motion, values);
  state.uses = scene.actuators.map((_, k) => most(state.used.filter(one => one.actuator === k)));
  const broken = scene.limits.filter((_, k) => state.limits[k].over).map(limit => limit.leg);
  state.overLegs = new Set([...broken, ...state.used.filter(one => one.share > 1 + 1e-12).flatMap(one => one.legs)]);
  state.verdict = verdict(state);
  return state;
}

/** The use of every limit of this state, as the judge counts it; without what is not known of the state.
 *
 * A simulation that is played has no accelerations, and a pose without an answer no forces.
 */
function used(state, motion, limited) {
  const qddot = motion.given ? null : Object.values(call.accelerations(motion))[0];
  const [twist, acceleration] = [motion.twist, motion.acceleration].map(one => one.slice(0, 6));
  const clearance = call.clearance ? call.clearance(motion).clearance.slice() : null;
  state.clearance = clearance;
  const { use } = call.limit_uses({ force: state.force, qdot: state.rate, qddot, limited, twist, acceleration, clearance });
  const known = one => (!one.force || state.force) && !(one.changes && motion.given);
  return scene.uses.map((one, k) => ({ ...one, share: use[k + 1] })).filter(known);
}

/** The limit that is used most; null of none. */
const most = all => (all.length ? all.reduce((a, b) => (b.share > a.share ? b : a)) : null);

/** A state of coordinates that the legs do not allow; the robot stays where it was. */
function refused(motion) {
  const lines = ["No pose with these coordinates was found near this one."];
  const verdict = { level: "bad", title: "Out of reach", lines };
  return { ...motion, reachable: false, uses: null, lostLegs: new Set(), singular: false, q: null, force: null, limits: null, verdict };
}

/** What "within all limits" does not say: limits that are not given, or not judged here. */
function unjudged(state) {
  const lines = [];
  if (scene.not_given.length) lines.push(`No limit given for: ${scene.not_given.join(", ")}.`);
  const open = [...new Set(scene.uses.filter(one => !state.used.some(u => u.name === one.name)).map(one => one.name))];
  if (open.length) lines.push(`Not judged: ${open.join(", ")} (not known of this state).`);
  if (scene.not_judged) lines.push(`Not judged: ${scene.not_judged}.`);
  return lines;
}

function verdict(state) {
  if (state.singular) {
    return {
      level: "bad",
      title: "Singular",
      lines: ["The platform can move with all actuators locked; no forces of the actuators hold it here."],
    };
  }
  const over = scene.limits.map((limit, k) => ({ limit, ...state.limits[k] })).filter(one => one.over);
  const lines = over.slice(0, 4).map(({ limit, value }) => {
    const high = value > limit.high;
    return (
      `${scene.legs[limit.leg]}: ${limit.name} ${textShown(value, limit.unit)}, ` +
      `${high ? "at most" : "at least"} ${textShown(high ? limit.high : limit.low, limit.unit)} allowed`
    );
  });
  if (over.length > 4) lines.push(`and ${over.length - 4} more`);
  const strained = state.used.filter(one => !one.range && one.share > 1 + 1e-12);
  for (const { where, name, share, pair, low } of strained.slice(0, 4))
    lines.push(
      typeof pair === "number"
        ? `${where}: ${name} ${textShown(state.clearance[pair], "m")}, at least ${textShown(low, "m")} required`
        : `${where}: ${name} is ${text(100 * share, 3)} % of what is allowed`,
    );
  const near = !(state.condition <= scene.near_singular);
  if (near) lines.push(`Near a singularity: condition number ${text(state.condition, 3)}; forces grow large.`);
  if (!state.force) lines.push("Dry friction and the reactions it depends on do not settle here: no forces.");
  if (over.length) return { level: "bad", title: `${over.length} of ${scene.limits.length} limits broken`, lines };
  if (strained.length) return { level: "bad", title: "More than is allowed", lines };
  if (near || !state.force) return { level: "warn", title: near ? "Near a singularity" : "No forces", lines };
  return {
    level: "good",
    title: scene.uses.length ? "Within all limits" : "Reachable",
    lines: scene.uses.length ? unjudged(state) : ["The robot file states no limits."],
  };
}

/** Pose (16) of every body: the base, the platform, then those of the legs. */
function framesOf(pose, bodies) {
  const frames = [Float64Array.of(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1), Float64Array.from(pose)];
  for (let k = 2; k < scene.bodies.length; k++) frames.push(bodies.slice(16 * (k - 2), 16 * (k - 1)));
  return frames;
}

const toBase = (frame, p) =>
  [0, 4, 8].map(r => frame[r] * p[0] + frame[r + 1] * p[1] + frame[r + 2] * p[2] + frame[r + 3]);
const turned = (frame, p) => [0, 4, 8].map(r => frame[r] * p[0] + frame[r + 1] * p[1] + frame[r + 2] * p[2]);
const jointPoint = (frames, k) => toBase(frames[scene.joints[k].body], scene.joints[k].point);
const jointAxis = (frames, k, n) => {
  const axis = scene.joints[k].axes[n];
  return axis ? turned(frames[axis.body], axis.local) : null;
};

/** Centre of mass of all that moves, and its mass. */
function centreOfMass(frames) {
  const sum = [0, 0, 0];
  let mass = 0;
  for (const one of scene.masses) {
    const at = toBase(frames[one.body], one.com);
    for (let k = 0; k < 3; k++) sum[k] += one.mass * at[k];
    mass += one.mass;
  }
  return { mass, at: sum.map(x => x / mass) };
}

/** The pose with given actuated coordinates near another, or null if none was found. */
function poseWith(q, guess) {
  const found = call.forward_kinematics({ q, pose: guess });
  const good = found.residual[0] <= scene.largest_residual && found.quality[0] > scene.least_margin;
  if (good && found.internal) inner.set(found.internal);
  return good ? found.pose.slice() : null;
}
