// The page: one state of the robot, changed by sliders, pointer, keys and the play bar, shown everywhere at once.

const host = document.getElementById("app");
host.replaceChildren();
const place = element("main", { id: "stage", tabIndex: 0, ariaLabel: `${scene.name} in three dimensions` });
const panel = element("aside", { id: "panel" });
host.append(place, panel);
const shows = { forces: true, cones: true, mass: true, workspace: true, frames: true, names: true };
const camera = makeCamera(drawnPoints());
let stage;
try {
  stage = hasWebGL() ? makeStage(place, camera) : makeSketch(place, camera);
} catch (error) {
  place.replaceChildren();
  stage = makeSketch(place, camera);
}
const heading = element("div", { id: "heading" }, element("h1", {}, scene.name), element("p", {}, scene.title));
if (data.motion) {
  const kind = data.live ? "Live simulation" : data.motion.simulated ? "Simulation" : "Motion";
  heading.append(element("p", {}, `${kind}: ${data.motion.name}`));
}
if (!stage.live) heading.append(element("p", {}, "Drawn in lines: this browser has no WebGL."));
place.append(heading);

const zero6 = () => new Float64Array(6);
let state = null,
  x = null,
  index = null,
  waiting = false;
const pivot = [0, 0, 0],
  load = zero6();
const app = { refusal: "" };

/** The robot's generalized coordinates at a pose: components of its displacement from home, or those of joints. */
function ownAt(pose) {
  const found = call.read({ pose }).x.slice();
  if (call.joint_coordinates) {
    const joints = call.joint_coordinates({ pose }).joints;
    scene.followed.forEach((place, k) => {
      found[place] = joints[k];
    });
  }
  return found;
}
/** Coordinates of a pose as sliders have them: of a robot of six degrees of freedom the place of the pivot. */
function coordinatesAt(pose) {
  const found = ownAt(pose);
  if (scene.pivot)
    toBase(pose, pivot).forEach((value, k) => {
      found[k] = value;
    });
  return found;
}
/** The pose of the robot's coordinates, or null where its legs do not allow them. */
function placed(values) {
  if (!call.motion) return call.place({ x: values }).pose.slice();
  const found = call.motion({ x: [...values, ...inner] });
  return found.quality[0] > scene.least_margin ? found.pose.slice() : null;
}
function poseAt(values) {
  const pose = placed(values);
  if (!pose) return null;
  if (scene.pivot)
    turned(pose, pivot).forEach((arm, k) => {
      pose[4 * k + 3] = values[k] - arm;
    });
  return pose;
}
const wrenchWith = own => (own ? load.map((value, k) => value + own[k]) : load.slice());
let stream = null; // a simulation under way

/** The instant that is shown is of a run that is no more: it stays in the picture until the new run has samples. */
const GONE = -1;
const forgetInstant = () => {
  if (index !== null) index = GONE;
};

/** Shows the robot at a pose: at rest, or at an instant of the motion; null is a pose that the legs do not allow. */
function show(pose, values = null, instant = null) {
  index = instant;
  const motion = data.motion;
  const moving = instant !== null && motion;
  const given = {
    pose: pose ?? stage.last.pose,
    wrench:
      moving && motion.simulated ? motion.wrench[instant] : wrenchWith(moving && motion.wrench ? motion.wrench[instant] : null),
    twist: moving ? motion.twist[instant] : still(),
    acceleration: moving && motion.acceleration ? motion.acceleration[instant] : still(),
    given: moving && motion.simulated ? motion.force[instant] : null,
  };
  state = pose ? evaluate(given) : refused(given);
  x = values ?? coordinatesAt(pose);
  state.x = x;
  state.moving = !moving ? "" : motion.simulated ? "simulation" : "motion";
  stage.update(state);
  updatePanel(state);
  if (dock) dock.at(instant);
  redraw();
}
const refresh = () => {
  if (index !== GONE) show(state.pose, x, index);
};
/** Draws once before the next picture of the screen, however often it is asked for. */
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    stage.draw();
    placeTags();
  });
}

Object.assign(app, {
  home() {
    app.refusal = "";
    inner.fill(0);
    show(Float64Array.from(scene.home));
  },
  setPose(pose) {
    app.refusal = "";
    show(Float64Array.from(pose));
  },
  setCoordinates(values) {
    app.refusal = "";
    const next = Float64Array.from(values);
    show(poseAt(next), next);
  },
  setCoordinate(k, value) {
    const next = x.slice();
    next[k] = value;
    app.setCoordinates(next);
  },
  setInternal(k, value) {
    inner[k] = value;
    app.setCoordinates(x);
  },
  setActuator(k, value) {
    const q = (state.q ?? stage.last.q).slice();
    q[k] = value;
    const pose = poseWith(q, state.q ? state.pose : stage.last.pose);
    app.refusal = pose
      ? ""
      : `no pose found near this one with ${scene.actuators[k].name} at ${textShown(value, scene.actuators[k].unit)}`;
    if (pose) show(pose);
    else refresh();
  },
  setPivot(k, value) {
    pivot[k] = value;
    x = coordinatesAt(state.pose);
    refresh();
  },
  setLoad(k, value) {
    load[k] = value;
    if (stream && !stream.ended) stream.send({ push: Array.from(load) });
    refresh();
  },
  setInstant(k) {
    if (!data.motion.pose[k]) return; // a simulation that begins anew has no samples yet
    app.refusal = "";
    if (data.motion.internal) inner.set(data.motion.internal[k]);
    show(data.motion.pose[k], null, k);
  },
});
