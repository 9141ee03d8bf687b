// Names of legs and axes over the picture, and the buttons of views and of what is drawn.

const named = scene.legs.map((name, leg) => {
  const own = scene.joints.map((joint, k) => [joint, k]).filter(([joint]) => joint.leg === leg);
  const root = own.find(([joint]) => joint.parent === 0 || joint.child === 0) ?? own[0];
  const tag = element("span", { className: "tag", style: `border-color:${scene.colours[leg % scene.colours.length]}` }, name);
  place.append(tag);
  return {
    tag,
    at: frames => {
      if (!root) return null;
      const point = jointPoint(frames, root[1]); // a little away from the robot's middle
      return add(point, unit(add(point, camera.middle, -1)), 0.13 * scene.scale);
    },
    shown: () => shows.names,
  };
});
for (const body of [0, 1]) {
  ["x", "y", "z"].forEach((name, k) => {
    const tag = element(
      "span",
      { className: "tag axis", style: `color:${["#c62828", "#1b7f38", "#1f62d0"][k]}` },
      name,
    );
    place.append(tag);
    const end = [0, 0, 0];
    end[k] = 0.22 * scene.scale;
    named.push({ tag, at: frames => toBase(frames[body], end), shown: () => shows.frames });
  });
}
/** Puts names beside what they name in the picture. */
function placeTags() {
  const good = state.reachable ? state : stage.last;
  for (const { tag, at, shown } of named) {
    const point = good && shown() && at(good.frames);
    tag.hidden = !point;
    if (!point) continue;
    const [px, py] = stage.project(point);
    tag.style.transform = `translate(${px}px, ${py}px) translate(-50%, -50%)`;
  }
}

// -- buttons -------------------------------------------------------------------------------------------------------------
const look = name => {
  camera.shape = place.clientHeight / place.clientWidth;
  camera.look(name);
  redraw();
};
const fit = () => {
  camera.shape = place.clientHeight / place.clientWidth;
  camera.fit();
  redraw();
};
place.append(
  element(
    "div",
    { className: "bar" },
    ...Object.keys(VIEWS).map((name, k) =>
      element("button", { onclick: () => look(name), title: `Key ${k + 1}` }, name),
    ),
    element("button", { onclick: () => fit(), title: "Key F" }, "Fit"),
  ),
);
const switches = {
  forces: "Forces",
  ...(scene.cones.length && stage.live ? { cones: "Joint cones" } : {}),
  mass: "Centre of mass",
  ...(data.workspace?.length && stage.live ? { workspace: "Workspace" } : {}),
  frames: "Axes",
  names: "Names",
};
place.append(
  element(
    "div",
    { className: "bar shows" },
    ...Object.entries(switches).map(([key, label]) => {
      const button = element(
        "button",
        {
          ariaPressed: "true",
          onclick: () => {
            shows[key] = !shows[key];
            button.ariaPressed = String(shows[key]);
            stage.update(state);
            redraw();
          },
        },
        label,
      );
      return button;
    }),
  ),
);
