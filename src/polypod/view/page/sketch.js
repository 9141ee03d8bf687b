// The robot as lines, for browsers without WebGL: the same calls as the stage in three dimensions.

function makeSketch(host, camera) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  host.append(svg);
  const sketch = { live: false, forceScale: {}, last: null };
  let state = null;
  const size = () => [host.clientWidth || 1, host.clientHeight || 1];
  sketch.project = point => {
    const [width, height] = size(),
      axes = camera.axes(),
      way = add(point, camera.target, -1);
    const scale = (0.5 * height) / camera.half;
    return [width / 2 + scale * dot(way, axes.right), height / 2 - scale * dot(way, axes.top)];
  };
  const shape = (kind, set) => {
    const made = document.createElementNS(space, kind);
    for (const [key, value] of Object.entries(set)) made.setAttribute(key, value);
    svg.append(made);
  };
  const line = (a, b, stroke, width) => {
    const [[x1, y1], [x2, y2]] = [sketch.project(a), sketch.project(b)];
    shape("line", { x1, y1, x2, y2, stroke, "stroke-width": width, "stroke-linecap": "round" });
  };
  const dot_ = (a, fill, radius) => {
    const [cx, cy] = sketch.project(a);
    shape("circle", { cx, cy, r: radius, fill });
  };
  const colour = leg => scene.colours[leg % scene.colours.length];
  const area = (frame, plate, fill, opacity) => {
    const ring = plate.outline.map(p => sketch.project(toBase(frame, p)).join(",")).join(" ");
    if (ring) shape("polygon", { points: ring, fill, "fill-opacity": opacity, stroke: "#4a545e" });
    for (const face of plate.faces) {
      shape("polygon", {
        points: face.map(p => sketch.project(toBase(frame, p)).join(",")).join(" "),
        fill,
        "fill-opacity": opacity * 0.6,
      });
    }
    for (const [a, b] of plate.lines) line(toBase(frame, a), toBase(frame, b), "#7d94a5", 6);
  };
  sketch.update = next => {
    state = next;
  };
  sketch.draw = () => {
    const [width, height] = size();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    if (!state) return;
    const good = state.reachable ? state : sketch.last;
    if (good) {
      sketch.last = good;
      const { frames } = good;
      area(frames[0], scene.plates[0], "#aab4be", 0.4);
      for (const rail of scene.rails) line(...rail.ends, "#b8c0c8", 5);
      for (const bar of scene.bars)
        line(...bar.joints.map(k => jointPoint(frames, k)), colour(bar.leg), bar.tube ? 4 : 5);
      scene.joints.forEach((_, k) => dot_(jointPoint(frames, k), "#4a545e", 4));
      for (const block of scene.blocks) dot_(jointPoint(frames, block.joint), colour(block.leg), 7);
      area(frames[1], scene.plates[1], state.singular ? "#c62828" : "#56a0c8", 0.55);
      for (const load of scene.payloads) dot_(toBase(frames[1], load.com), "#b7791f", 8);
      if (shows.mass) dot_(centreOfMass(frames).at, "#1d2733", 6);
      if (shows.forces && state.force) {
        scene.actuators.forEach((actuator, k) => {
          const axis = jointAxis(frames, actuator.joint, 0),
            at = jointPoint(frames, actuator.joint);
          const part = Math.min(1.6, Math.abs(state.force[k]) / (sketch.forceScale[actuator.force_unit] || 1));
          line(at, add(at, axis, 0.3 * part * scene.scale * actuator.forwards), "#C2185B", 3);
        });
      }
    }
    if (!state.reachable) area(state.pose, scene.plates[1], "#c62828", 0.4);
  };
  sketch.platformAt = (x, y) => {
    const at = [state.pose[3], state.pose[7], state.pose[11]],
      [px, py] = sketch.project(at);
    return Math.hypot(px - x, py - y) < 60 ? at : null;
  };
  sketch.hover = () => {};
  return sketch;
}

/** Whether the browser draws in three dimensions. */
function hasWebGL() {
  try {
    const canvas = document.createElement("canvas");
    return Boolean(canvas.getContext("webgl2"));
  } catch {
    return false;
  }
}
