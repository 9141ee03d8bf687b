// Pointer, touch and keys: the platform is dragged, the view is turned.

const pointers = new Map();
let held = null;
const local = event => {
  const box = place.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
const onPicture = event => event.target === place || event.target.tagName === "CANVAS" || event.target.closest("svg");
place.addEventListener("contextmenu", event => event.preventDefault());
place.addEventListener("pointerdown", event => {
  if (!onPicture(event)) return;
  place.focus({ preventScroll: true });
  place.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, local(event));
  const caught = pointers.size === 1 && event.button === 0 && stage.platformAt(...local(event));
  held = caught ? { pose: state.pose.slice(), start: local(event), turn: event.shiftKey } : null;
});
place.addEventListener("pointermove", event => {
  const [px, py] = local(event),
    before = pointers.get(event.pointerId);
  if (!before) {
    if (onPicture(event)) {
      const over = Boolean(stage.platformAt(px, py));
      place.style.cursor = over ? "grab" : "default";
      stage.hover(over);
      if (over !== place.over) {
        place.over = over;
        redraw();
      }
    }
    return;
  }
  pointers.set(event.pointerId, [px, py]);
  const [right, down] = [px - before[0], py - before[1]];
  if (held) {
    dragTo(px, py);
    return;
  }
  if (pointers.size === 2) {
    const other = [...pointers.entries()].find(([id]) => id !== event.pointerId)[1];
    const gap = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    camera.zoom(gap(before, other) / Math.max(gap([px, py], other), 1));
    camera.pan((0.5 * right) / place.clientHeight, (0.5 * down) / place.clientHeight);
  } else if (event.buttons & 2 || event.buttons & 4 || event.ctrlKey)
    camera.pan(right / place.clientHeight, down / place.clientHeight);
  else camera.turn(0.4 * right, 0.4 * down);
  redraw();
});
const release = event => {
  pointers.delete(event.pointerId);
  held = null;
};
place.addEventListener("pointerup", release);
place.addEventListener("pointercancel", release);
place.addEventListener(
  "wheel",
  event => {
    event.preventDefault();
    camera.zoom(Math.exp(0.0012 * event.deltaY));
    redraw();
  },
  { passive: false },
);

/** The platform follows the pointer across the screen, or turns with it; a robot of fewer degrees of freedom as far as it can. */
function dragTo(px, py) {
  const axes = camera.axes(),
    pose = held.pose.slice();
  const [right, down] = [px - held.start[0], py - held.start[1]];
  if (held.turn) {
    const turn = add(
      axes.top.map(v => v * 0.006 * right),
      axes.right,
      0.006 * down,
    );
    rotate(pose, turn);
  } else {
    const scale = (2 * camera.half) / place.clientHeight;
    const move = add(
      axes.right.map(v => v * scale * right),
      axes.top,
      -scale * down,
    );
    for (let k = 0; k < 3; k++) pose[4 * k + 3] += move[k];
  }
  app.refusal = "";
  if (scene.pivot) show(pose);
  else {
    const own = ownAt(pose);
    show(placed(own), own);
  }
}
/** Turns a pose by a rotation vector about its pivot, in place. */
function rotate(pose, vector) {
  const angle = Math.hypot(...vector);
  if (angle < 1e-12) return;
  const k = vector.map(v => v / angle),
    fixed = toBase(pose, pivot),
    [c, s] = [Math.cos(angle), Math.sin(angle)];
  for (let column = 0; column < 3; column++) {
    const e = [pose[column], pose[4 + column], pose[8 + column]],
      kxe = cross(k, e),
      along = dot(k, e) * (1 - c);
    for (let r = 0; r < 3; r++) pose[4 * r + column] = e[r] * c + kxe[r] * s + k[r] * along;
  }
  const arm = turned(pose, pivot);
  for (let r = 0; r < 3; r++) pose[4 * r + 3] = fixed[r] - arm[r];
}
const NUDGE = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowDown: [1, -1],
  ArrowUp: [1, 1],
  PageDown: [2, -1],
  PageUp: [2, 1],
};
document.addEventListener("keydown", event => {
  const { tagName } = event.target;
  if (tagName === "INPUT" || tagName === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const view = Object.keys(VIEWS)[Number(event.key) - 1];
  if (NUDGE[event.key]) {
    const [first, way] = NUDGE[event.key],
      k = first + (event.shiftKey ? 3 : 0),
      one = scene.coordinates[k];
    if (!one) return;
    app.setCoordinate(k, x[k] + (way * (one.high - one.low)) / 100);
  } else if (event.key === "Home") app.home();
  else if (view) look(view);
  else if (event.key === "f" || event.key === "F") fit();
  else if (dock && event.key === " ") {
    if (tagName === "BUTTON" || tagName === "SUMMARY") return;
    dock.toggle();
  } else if (dock && (event.key === "," || event.key === ".")) dock.step(event.key === "." ? 1 : -1);
  else return;
  event.preventDefault();
});
