// Coordinates, forces and conditioning along a motion, with a line at the instant that is shown.

/** Steps of 1, 2 or 5 times a power of ten, about so many, that hold a range. */
function ticks(low, high, count) {
  const raw = (high - low) / count,
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw),
    first = Math.ceil(low / step - 1e-9);
  const made = [];
  // counted, as numbers so large that one more is the same would never reach the end
  for (let k = 0; k <= count && (first + k) * step <= high + 1e-9 * step; k++) made.push((first + k) * step);
  return made;
}

/** A plot of lines { colour, values } over time, which may grow; ``pick`` gets the number of the sample under the pointer.
 *
 * ``end`` is the last time of the axis, the last sample's if null. It gives { at, paint }: the instant that is marked,
 * and what draws the lines anew.
 */
function makePlot(host, title, time, lines, pick, end = null) {
  const canvas = element("canvas", { ariaLabel: title, role: "img" });
  host.append(canvas);
  const back = document.createElement("canvas"); // the lines without the mark of the instant
  let marked = 0,
    low = 0,
    high = 1;
  const [left, right, top, bottom] = [46, 8, 20, 20];
  const range = () => {
    [low, high] = [Infinity, -Infinity];
    for (const line of lines)
      for (const v of line.values)
        if (Number.isFinite(v)) {
          if (v < low) low = v;
          if (v > high) high = v;
        }
    if (low > high) [low, high] = [0, 1];
    // what differs by rounding alone is one value
    const size = Math.max(Math.abs(low), Math.abs(high)),
      room = high - low > 1e-9 * size ? 0.06 * (high - low) : 0.05 * size || 1;
    [low, high] = [low - room, high + room];
  };
  const place = () => {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight],
      start = time[0] ?? 0,
      last = end ?? time[time.length - 1] ?? 1;
    return {
      x: t => left + ((width - left - right) * (t - start)) / (last - start || 1),
      y: v => height - bottom - ((height - top - bottom) * (v - low)) / (high - low),
      width,
      height,
      start,
      last,
    };
  };
  function paint() {
    range();
    const ratio = window.devicePixelRatio || 1,
      { x, y, width, height, start, last } = place();
    if (!width) return;
    canvas.width = back.width = width * ratio;
    canvas.height = back.height = height * ratio;
    canvas.getContext("2d").scale(ratio, ratio);
    const pen = back.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    pen.strokeStyle = "#e4e9ee";
    pen.fillStyle = "#5b6875";
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const v of ticks(low, high, 5)) {
      pen.beginPath();
      pen.moveTo(left, y(v));
      pen.lineTo(width - right, y(v));
      pen.stroke();
      pen.fillText(
        text(v, 4)
          .replace(/(\.\d*?)0+$/, "$1")
          .replace(/\.$/, ""),
        left - 5,
        y(v),
      );
    }
    pen.textAlign = "center";
    pen.textBaseline = "alphabetic";
    for (const t of ticks(start, last, Math.max(2, Math.floor(width / 90))))
      pen.fillText(`${Number(t.toPrecision(4))} s`, Math.min(x(t), width - 14), height - 5);
    pen.textAlign = "left";
    pen.fillStyle = "#1d2733";
    pen.font = "600 12px system-ui, sans-serif";
    pen.fillText(title, left, 13);
    pen.lineWidth = 1.5;
    for (const line of lines) {
      pen.strokeStyle = line.colour;
      pen.beginPath();
      let drawing = false;
      line.values.forEach((v, k) => {
        if (!Number.isFinite(v)) {
          drawing = false;
          return;
        }
        if (drawing) pen.lineTo(x(time[k]), y(v));
        else pen.moveTo(x(time[k]), y(v));
        drawing = true;
      });
      pen.stroke();
    }
    cursor();
  }
  function cursor() {
    if (!back.width || !canvas.clientWidth) return;
    const pen = canvas.getContext("2d"),
      at = marked,
      { x, y, width, height } = place();
    pen.clearRect(0, 0, width, height);
    pen.drawImage(back, 0, 0, width, height);
    if (!(at < time.length)) return;
    pen.strokeStyle = "#1d2733";
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x(time[at]), top);
    pen.lineTo(x(time[at]), height - bottom);
    pen.stroke();
    for (const line of lines) {
      if (!Number.isFinite(line.values[at])) continue;
      pen.fillStyle = line.colour;
      pen.beginPath();
      pen.arc(x(time[at]), y(line.values[at]), 3, 0, 2 * Math.PI);
      pen.fill();
    }
  }
  const picked = event => {
    const { width, start, last } = place(),
      part = (event.offsetX - left) / (width - left - right);
    const t = start + Math.max(0, Math.min(1, part)) * (last - start);
    let best = 0;
    for (let k = 1; k < time.length; k++) if (Math.abs(time[k] - t) < Math.abs(time[best] - t)) best = k;
    pick(best);
  };
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    picked(event);
  });
  canvas.addEventListener("pointermove", event => {
    if (event.buttons) picked(event);
  });
  new ResizeObserver(paint).observe(canvas);
  return {
    paint,
    clear: () => {
      for (const line of lines) line.values.length = 0;
      marked = 0;
    },
    at: k => {
      marked = k;
      cursor();
    },
  };
}

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5];

/** Play bar and plots below the robot; ``show`` is called with the number of an instant.
 *
 * ``stream`` is a simulation under way, which plays until it has ended: ``running``, ``ended``, ``send``.
 */
function makeDock(host, motion, show, stream = null) {
  const { time } = motion,
    last = () => time.length - 1,
    whole = stream ? stream.duration : null;
  let playing = false,
    begun = 0,
    from = 0,
    now = 0,
    speed = stream ? stream.speed : 1;
  const button = element("button", { onclick: () => toggle() }, "Play");
  const bar = element("input", {
    type: "range",
    min: 0,
    max: Math.max(last(), 0),
    step: 1,
    value: 0,
    ariaLabel: "instant of the motion",
    oninput: () => {
      stop();
      show(Number(bar.value));
    },
  });
  const output = element("output", {});
  const pace = element(
    "select",
    {
      ariaLabel: "speed",
      title: "Speed",
      onchange: () => {
        speed = Number(pace.value);
        [begun, from] = [performance.now(), time[now]];
        stream?.send({ speed });
      },
    },
    ...[...new Set([...SPEEDS, speed])]
      .sort((a, b) => a - b)
      .map(one => element("option", { value: one, selected: one === speed }, `${one}×`)),
  );
  const again = stream
    ? [element("button", { onclick: () => stream.send({ again: true }), title: "From the start" }, "Run again")]
    : [];
  host.append(element("div", { id: "play" }, button, bar, output, pace, ...again));
  const area = element("div", { id: "plots" });
  host.append(area);
  const colour = k => scene.colours[scene.actuators[k].leg % scene.colours.length];
  const units = [...new Set(scene.actuators.map(a => a.unit))];
  const plots = [];
  const grows = []; // functions of the number of a sample that add it to the lines
  const pick = k => {
    stop();
    show(k);
  };
  const plot = (title, values) => {
    const lines = values.map(([line, value]) => {
      const made = { colour: line, values: [] };
      grows.push(k => {
        made.values[k] = value(k);
      });
      return made;
    });
    plots.push(makePlot(area, title, time, lines, pick, whole));
  };
  for (const unit of units) {
    const own = scene.actuators.map((a, k) => [a, k]).filter(([a]) => a.unit === unit);
    const name = units.length > 1 ? (unit === "m" ? "linear " : "rotary ") : "";
    const at = (rows, i, k) => (rows[i] ? rows[i][k] : NaN);
    plot(
      `${name}actuators [${shown(unit)}]`,
      own.map(([, k]) => [colour(k), i => inShown(at(motion.q, i, k), unit)]),
    );
    plot(
      unit === "m" ? "forces [N]" : "torques [N m]",
      own.map(([, k]) => [colour(k), i => at(motion.force, i, k)]),
    );
  }
  if (motion.error) plot("position error [mm]", [["#1d2733", i => 1e3 * motion.error[i]]]);
  else plot("condition number", [["#1d2733", i => motion.condition[i]]]);
  const fill = first => {
    for (let k = first; k <= last(); k++) for (const grow of grows) grow(k);
  };
  fill(0);
  const label = () => {
    const under = stream && !stream.ended;
    button.textContent = under ? (stream.running ? "Pause" : "Resume") : playing ? "Stop" : "Play";
  };
  const stop = () => {
    playing = false;
    if (stream?.running) stream.hold();
    label();
  };
  const step = () => {
    if (!playing) return;
    const t = from + (speed * (performance.now() - begun)) / 1e3;
    let k = now;
    while (k < last() && time[k + 1] <= t) k++;
    if (k !== now) show(k);
    if (k >= last()) {
      stop();
      return;
    }
    requestAnimationFrame(step);
  };
  const toggle = () => {
    if (stream && !stream.ended) {
      if (stream.running) stream.hold();
      else stream.go();
      label();
      return;
    }
    if (playing) {
      stop();
      return;
    }
    if (now >= last()) show(0);
    playing = true;
    label();
    begun = performance.now();
    from = time[now];
    requestAnimationFrame(step);
  };
  label();
  return {
    toggle,
    stop,
    label,
    step: by => {
      stop();
      show(Math.max(0, Math.min(last(), now + by)));
    },
    at: k => {
      if (k === null) {
        stop();
        output.textContent = "";
        return;
      }
      now = k;
      bar.max = last();
      bar.value = k;
      output.textContent = `${time[k].toFixed(3)} of ${(whole ?? time[last()]).toFixed(3)} s`;
      plots.forEach(one => one.at(k));
    },
    /** Samples from a number on are new. */
    grown: first => {
      bar.max = Math.max(last(), 0);
      fill(first);
      plots.forEach(one => one.paint());
    },
    /** All samples are gone: a run begins anew. */
    clear: () => {
      for (const one of plots) one.clear();
      now = 0;
      playing = false;
    },
  };
}
