// The page starts: at home, at the first instant of its motion, or with a simulation that is under way.

let dock = null;
const updatePanel = makePanel(panel, app);
const atHome = evaluate({
  pose: Float64Array.from(scene.home),
  twist: still(),
  acceleration: still(),
  wrench: zero6(),
});
const largest = {};
/** Keeps the largest force of each unit, which arrows are scaled by. */
const recordForce = force => {
  if (force)
    scene.actuators.forEach((a, k) => {
      largest[a.force_unit] = Math.max(largest[a.force_unit] ?? 0, Math.abs(force[k]));
    });
};
recordForce(atHome.force);
const dockOf = (motion, along = null) => {
  const area = element("section", { id: "dock" });
  host.append(area);
  return makeDock(area, motion, k => app.setInstant(k), along);
};
stage.forceScale = largest;
if (data.live) {
  app.home();
  stream = makeStream(data.motion, data.live);
  dock = dockOf(data.motion, stream);
  stream.open();
} else if (data.motion) {
  const { motion } = data;
  const numbers = text => new Float64Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  const rows = (text, size) => {
    const all = numbers(text);
    return Array.from({ length: all.length / size }, (_, k) => all.slice(size * k, size * (k + 1)));
  };
  motion.time = numbers(motion.time);
  motion.pose = rows(motion.pose, 16);
  motion.twist = rows(motion.twist, 6 + inner.length);
  motion.acceleration = motion.acceleration && rows(motion.acceleration, 6 + inner.length);
  motion.internal = motion.internal && rows(motion.internal, inner.length);
  motion.wrench = motion.wrench && rows(motion.wrench, 6);
  motion.error = motion.error && numbers(motion.error);
  const given = motion.simulated && rows(motion.force, scene.actuators.length);
  const along = motion.pose.map((pose, k) => {
    if (motion.internal) inner.set(motion.internal[k]);
    return evaluate({
      pose,
      twist: motion.twist[k],
      acceleration: motion.acceleration?.[k] ?? still(),
      wrench: motion.wrench?.[k] ?? zero6(),
      given: given ? given[k] : null,
    });
  });
  motion.q = along.map(one => one.q);
  motion.force = given || along.map(one => one.force);
  motion.condition = along.map(one => (one.reachable && !one.singular ? one.condition : NaN));
  motion.force.forEach(recordForce);
  dock = dockOf(motion);
  app.setInstant(0);
} else app.home();
look("Iso");
openAddress();
new ResizeObserver(redraw).observe(place);
window.polypod = {
  ...app,
  get state() {
    return state;
  },
  /** Number of the instant of the motion that is shown; null where the robot was moved away from it. */
  get instant() {
    return index;
  },
  evaluate,
  call,
  scene,
  camera,
  get stage() {
    return stage;
  },
  motion: data.motion,
  stream,
  shownAs,
  openLink,
  picture,
  draw: () => {
    stage.draw();
    placeTags();
  },
};
