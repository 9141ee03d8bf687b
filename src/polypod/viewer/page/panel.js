// The panel beside the robot: verdict, sliders of coordinates and actuators, limits, conditioning, load, keys.

/** An element with attributes, handlers (on...) and children; texts are texts, never markup. */
function element(kind, set = {}, ...children) {
  const made = document.createElement(kind);
  for (const [key, value] of Object.entries(set)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && key !== "style" && key !== "list") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
const chip = leg =>
  element("span", { className: "chip", style: `background:${scene.colours[leg % scene.colours.length]}` });
const row = (...cells) => element("tr", {}, ...cells);
const cell = (content, className = "") => element("td", { className }, content);

/** A slider with a number beside it, in the units people read; ``change`` gets the value in SI units. */
function slider(label, { unit, low, high }, change) {
  const scale = v => inShown(v, unit),
    back = v => v / (unitSize[unit] ?? 1);
  const span = Math.max(high - low, 1e-9),
    step = 10 ** Math.floor(Math.log10(scale(span) / 1000));
  const range = element("input", {
    type: "range",
    min: low,
    max: high,
    step: "any",
    ariaLabel: label,
    oninput: () => change(Number(range.value)),
  });
  const number = element("input", {
    type: "number",
    step,
    ariaLabel: `${label} [${shown(unit)}]`,
    onchange: () => {
      if (number.value !== "" && Number.isFinite(Number(number.value))) change(back(Number(number.value)));
    },
  });
  const show = value => {
    const places = Math.max(0, -Math.floor(Math.log10(step)));
    if (document.activeElement !== number || value !== null)
      number.value = value === null ? "" : (Number(scale(value).toFixed(places)) + 0).toFixed(places);
    if (value !== null && document.activeElement !== range) range.value = value;
  };
  return { range, number, show };
}

function makePanel(host, app) {
  const status = element("div", { id: "status", role: "status" });
  host.append(status);
  if (data.live) host.append(element("p", { id: "run", role: "status" }));

  // -- the platform's coordinates --------------------------------------------------------------------------------------
  host.append(
    element(
      "h2",
      {},
      "Platform",
      element("small", {}, scene.pivot ? "base frame" : "generalized coordinates"),
      element("button", { onclick: () => app.home(), title: "Back to the home pose (key Home)" }, "Home"),
    ),
  );
  const coordinates = element("table", { id: "coordinates" });
  host.append(coordinates);
  const moving = scene.coordinates.map((one, k) => {
    const made = slider(one.name, one, value => app.setCoordinate(k, value));
    coordinates.append(
      row(cell(one.name, "name"), cell(made.range, "wide"), cell(made.number), cell(shown(one.unit), "unit")),
    );
    return made;
  });
  const inside = scene.internal.map((one, k) => {
    const made = slider(one.name, one, value => app.setInternal(k, value));
    coordinates.append(
      row(cell(one.name, "name"), cell(made.range, "wide"), cell(made.number), cell(shown(one.unit), "unit")),
    );
    return made;
  });
  if (scene.pivot) {
    const inputs = "xyz".split("").map((name, k) =>
      element("input", {
        type: "number",
        value: 0,
        step: 1,
        ariaLabel: `pivot ${name} [mm]`,
        onchange: event => {
          app.setPivot(k, (Number(event.target.value) || 0) / 1e3);
        },
      }),
    );
    host.append(
      element(
        "details",
        {},
        element("summary", {}, "Pivot point"),
        element(
          "p",
          {},
          "The point of the platform that x, y, z refer to and that rotations are about, in the platform frame [mm].",
        ),
        element("div", { className: "three" }, ...inputs.map((input, k) => element("label", {}, "xyz"[k], input))),
      ),
    );
  }

  // -- actuators -----------------------------------------------------------------------------------------------------------
  const rest = element("small", {});
  host.append(element("h2", {}, "Actuators", rest));
  const actuators = element("table", { id: "actuators" });
  const limited = scene.uses.some(one => one.actuator !== null);
  actuators.append(
    row(
      element("th", {}, ""),
      element("th", {}, ""),
      element("th", {}, "coordinate"),
      element("th", {}, ""),
      element("th", {}, scene.actuators.every(one => one.force_unit === "N m") ? "torque" : "force"),
      element("th", {}, ""),
      element("th", { title: "The largest share of a limit of this drive that is used" }, limited ? "use" : ""),
    ),
  );
  host.append(actuators);
  const driven = scene.actuators.map((one, k) => {
    const made = slider(one.name, one, value => app.setActuator(k, value));
    const force = element("td", { className: "value" }),
      used = element("td", { className: "value" });
    const name = cell(chip(one.leg), "name");
    name.append(one.name);
    name.title = one.name;
    actuators.append(
      row(
        name,
        cell(made.range, "wide"),
        cell(made.number),
        cell(shown(one.unit), "unit"),
        force,
        cell(one.force_unit, "unit"),
        ...(limited ? [used] : []),
      ),
    );
    return { ...made, force, used };
  });

  // -- limits ------------------------------------------------------------------------------------------------------------
  const count = element("small", {});
  host.append(element("h2", {}, "Limits", count));
  const limits = element("table", { id: "limits" });
  host.append(limits);
  const gauges = scene.limits.map(limit => {
    const mark = element("i"),
      value = element("td", { className: "value" });
    const name = cell(chip(limit.leg), "name");
    name.append(`${scene.legs[limit.leg]} ${limit.name}`);
    name.title = `${scene.legs[limit.leg]} ${limit.name}: ${textShown(limit.low, limit.unit)} to ${textShown(limit.high, limit.unit)}`;
    const line = row(name, cell(element("div", { className: "gauge" }, mark), "wide"), value);
    limits.append(line);
    return { mark, value, line };
  });

  // -- conditioning ------------------------------------------------------------------------------------------------------
  host.append(element("h2", {}, "Conditioning"));
  const condition = element("td", { className: "value", id: "condition" }),
    distance = element("td", { className: "value", id: "distance" });
  const mass = element("td", { className: "value" }),
    height = element("td", { className: "value" });
  host.append(
    element(
      "table",
      {},
      row(cell("condition number"), condition),
      row(cell("distance to singularity"), distance),
      row(cell("moving mass"), mass),
      row(cell("height of its centre of mass"), height),
    ),
  );

  // -- assembly modes ----------------------------------------------------------------------------------------------------
  if (data.modes) {
    const buttons = data.modes.map(({ pose, text }, k) =>
      element("button", { title: text, onclick: () => app.setPose(pose) }, String(k + 1)),
    );
    host.append(
      element("h2", {}, "Assembly modes", element("small", {}, "poses with the actuators as at home")),
      element("div", { id: "modes" }, ...buttons),
    );
  }

  // -- load and keys -----------------------------------------------------------------------------------------------------
  const load = ["force x", "force y", "force z", "moment x", "moment y", "moment z"].map((name, k) =>
    element(
      "label",
      {},
      `${name} [${k < 3 ? "N" : "N m"}]`,
      element("input", {
        type: "number",
        value: 0,
        step: 10,
        onchange: event => app.setLoad(k, Number(event.target.value) || 0),
      }),
    ),
  );
  host.append(
    element(
      "details",
      {},
      element("summary", {}, "Load on the platform"),
      element(
        "p",
        {},
        "At the origin of the platform frame, base axes, in addition to weight and the wrench of a motion." +
          (data.live ? " It pushes the robot of the simulation; the controller does not know of it." : ""),
      ),
      element("div", { className: "three" }, ...load.slice(0, 3)),
      element("div", { className: "three" }, ...load.slice(3)),
    ),
  );
  const keys = [
    ["drag the platform", "moves it; with Shift rotates it"],
    ["drag elsewhere, wheel", "rotate the view, zoom; right button or two fingers pan"],
    ["← →  ↑ ↓  PgUp PgDn", "first, second and third coordinate; with Shift the next three"],
    ["Home", "home pose"],
    ["1 2 3 4  F", "iso, front, side, plan view; fit"],
    ...(data.motion ? [["Space  , .", "play or stop; one instant back or forward"]] : []),
  ];
  host.append(
    element(
      "details",
      { id: "keys" },
      element("summary", {}, "Mouse and keys"),
      element("table", {}, ...keys.map(([key, what]) => row(cell(element("kbd", {}, key)), cell(what)))),
    ),
  );
  for (const note of scene.notes) host.append(element("p", { className: "note" }, note));

  let title = "";
  return state => {
    const { verdict } = state;
    const shown = [verdict.level, verdict.title, ...verdict.lines].join("\n");
    if (shown !== title) {
      title = shown;
      status.className = verdict.level;
      status.replaceChildren(
        element("strong", {}, verdict.title),
        ...verdict.lines.map(line => element("span", {}, line)),
      );
    }
    moving.forEach((one, k) => one.show(state.x[k]));
    inside.forEach((one, k) => one.show(inner[k]));
    rest.textContent = app.refusal || (state.moving ? `forces of the ${state.moving} at this instant` : "forces at rest");
    driven.forEach((one, k) => {
      one.show(state.q ? state.q[k] : null);
      one.force.textContent = state.force ? text(state.force[k], 4) : "–";
      const use = state.uses?.[k];
      one.used.textContent = use ? `${Math.round(100 * use.share)} %` : "";
      one.used.className = use?.share > 1 ? "value broken" : "value";
    });
    if (!scene.limits.length) count.textContent = "none in the robot file";
    gauges.forEach((gauge, k) => {
      const limit = scene.limits[k],
        one = state.limits?.[k];
      const part = one ? (one.value - limit.low) / (limit.high - limit.low) : 0.5;
      gauge.mark.style.left = `${100 * Math.max(0, Math.min(1, part))}%`;
      gauge.mark.className =
        !one || one.over ? "over" : (limit.cosine ? part > 0.9 : part < 0.05 || part > 0.95) ? "near" : "";
      gauge.value.textContent = one ? textShown(one.value, limit.unit) : "–";
      gauge.line.className = one?.over ? "broken" : "";
    });
    condition.textContent = state.reachable && !state.singular ? text(state.condition, 4) : "–";
    distance.textContent = state.reachable ? `${text(state.distance, 3)} mm/mm` : "–";
    if (state.reachable) {
      const whole = centreOfMass(state.frames);
      mass.textContent = `${text(whole.mass, 4)} kg`;
      height.textContent = textShown(dot(whole.at, up), "m");
    }
  };
}
