// The page starts: at home, or at the first instant of its motion.

let dock = null;
const fill = makePanel(panel, app);
const atHome = evaluate({
  pose: Float64Array.from(scene.home),
  twist: zero6(),
  acceleration: zero6(),
  wrench: zero6(),
});
const largest = {};
const measure = force => {
  if (force)
    scene.actuators.forEach((a, k) => {
      largest[a.force_unit] = Math.max(largest[a.force_unit] ?? 0, Math.abs(force[k]));
    });
};
measure(atHome.force);
if (data.motion) {
  const { motion } = data;
  const numbers = text => new Float64Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  const rows = (text, size) => {
    const all = numbers(text);
    return Array.from({ length: all.length / size }, (_, k) => all.slice(size * k, size * (k + 1)));
  };
  motion.time = numbers(motion.time);
  motion.pose = rows(motion.pose, 16);
  motion.twist = rows(motion.twist, 6);
  motion.acceleration = rows(motion.acceleration, 6);
  motion.wrench = motion.wrench && rows(motion.wrench, 6);
  const along = motion.pose.map((pose, k) =>
    evaluate({
      pose,
      twist: motion.twist[k],
      acceleration: motion.acceleration[k],
      wrench: motion.wrench?.[k] ?? zero6(),
    }),
  );
  motion.q = along.map(one => one.q);
  motion.force = along.map(one => one.force);
  motion.condition = along.map(one => (one.reachable && !one.singular ? one.condition : NaN));
  motion.force.forEach(measure);
  stage.forceScale = largest;
  const area = element("section", { id: "dock" });
  host.append(area);
  dock = makeDock(area, motion, k => app.setInstant(k));
  app.setInstant(0);
} else {
  stage.forceScale = largest;
  app.home();
}
look("Iso");
new ResizeObserver(redraw).observe(place);
window.polypod = {
  ...app,
  get state() {
    return state;
  },
  evaluate,
  call,
  scene,
  camera,
  get stage() {
    return stage;
  },
  motion: data.motion,
  draw: () => {
    stage.draw();
    tags();
  },
};
