// The robot as lines, for browsers without WebGL: the same calls as the stage in three dimensions.

function makeSketch(host, camera) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  host.append(svg);
  const sketch = { live: false, forceScale: {}, last: null };
  let state = null;
  const size = () => [host.clientWidth || 1, host.clientHeight || 1];
  /** The picture as it is, as an image. */
  sketch.image = () =>
    new Promise((done, failed) => {
      const [width, height] = size(),
        image = new Image(width, height);
      const copy = svg.cloneNode(true);
      for (const [key, value] of Object.entries({ width, height })) copy.setAttribute(key, value);
      image.onload = () => done(image);
      image.onerror = failed;
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
    });
  sketch.project = point => {
    const [width, height] = size(),
      axes = camera.axes(),
      way = add(point, camera.target, -1);
    const scale = (0.5 * height) / camera.half;
    return [width / 2 + scale * dot(way, axes.right), height / 2 - scale * dot(way, axes.top)];
  };
  const shape_ = (kind, set) => {
    const made = document.createElementNS(space, kind);
    for (const [key, value] of Object.entries(set)) made.setAttribute(key, value);
    svg.append(made);
  };
  const line = (a, b, stroke, width) => {
    const [[x1, y1], [x2, y2]] = [sketch.project(a), sketch.project(b)];
    shape_("line", { x1, y1, x2, y2, stroke, "stroke-width": width, "stroke-linecap": "round" });
  };
  const arrow = (a, b, fill, width) => {
    line(a, b, fill, width);
    const [[x1, y1], [x2, y2]] = [sketch.project(a), sketch.project(b)];
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 1) return; // it points at the reader, or is none
    const [u, v] = [((x2 - x1) / length) * 3 * width, ((y2 - y1) / length) * 3 * width];
    const head = [
      [x2 + u, y2 + v],
      [x2 - 0.5 * v, y2 + 0.5 * u],
      [x2 + 0.5 * v, y2 - 0.5 * u],
    ];
    shape_("polygon", { points: head.map(p => p.join(",")).join(" "), fill });
  };
  const triad = frame => {
    ["#c62828", "#2e9d43", "#1f62d0"].forEach((fill, k) => {
      const end = [0, 0, 0];
      end[k] = 0.17 * scene.scale;
      arrow(toBase(frame, [0, 0, 0]), toBase(frame, end), fill, 2.5);
    });
  };
  const dot_ = (a, fill, radius) => {
    const [cx, cy] = sketch.project(a);
    shape_("circle", { cx, cy, r: radius, fill });
  };
  const colour = leg => scene.colours[leg % scene.colours.length];
  const drawn = (frame, shape, fill, opacity) => {
    const points = shape.points.map(p => toBase(frame, p)),
      width = Math.max(2, (shape.radius * size()[1]) / camera.half);
    if (points.length === 1) dot_(points[0], fill, width / 2);
    else if (points.length === 2) line(...points, fill, width);
    else
      shape_("polygon", {
        points: points.map(p => sketch.project(p).join(",")).join(" "),
        fill,
        "fill-opacity": opacity,
        stroke: "#4a545e",
      });
  };
  const greys = { rod: "#c3cad1", rail: "#b8c0c8", joint: "#4a545e", base: "#aab4be", payload: "#b7791f" };
  sketch.update = next => {
    state = next;
    if (next.reachable) sketch.last = next;
  };
  sketch.draw = () => {
    const [width, height] = size();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    if (!state) return;
    const good = sketch.last;
    if (good) {
      const { frames } = good;
      const order = ["base", "rail", "rod", "tube", "link", "carriage", "joint", "platform", "payload"];
      for (const shape of [...scene.shapes].sort((a, b) => order.indexOf(a.role) - order.indexOf(b.role))) {
        const fill =
          shape.role === "platform" ? (state.singular ? "#c62828" : "#56a0c8") : (greys[shape.role] ?? colour(shape.leg));
        drawn(frames[shape.body], shape, fill, shape.role === "base" ? 0.4 : 0.55);
      }
      if (shows.mass) dot_(centreOfMass(frames).at, "#1d2733", 6);
      if (shows.frames) [frames[0], frames[1]].forEach(triad);
      if (shows.forces && state.force) {
        scene.actuators.forEach((actuator, k) => {
          const axis = jointAxis(frames, actuator.joint, 0),
            at = jointPoint(frames, actuator.joint);
          const part = Math.min(1.6, Math.abs(state.force[k]) / (sketch.forceScale[actuator.force_unit] || 1));
          const far = add(at, axis, 0.3 * part * scene.scale * actuator.forwards);
          arrow(...(state.force[k] >= 0 ? [at, far] : [far, at]), "#C2185B", 3); // towards the joint if it pulls
        });
      }
    }
    if (!state.reachable)
      for (const shape of scene.shapes) if (shape.role === "platform") drawn(state.pose, shape, "#c62828", 0.4);
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
