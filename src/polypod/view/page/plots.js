// Coordinates, forces and conditioning along a motion, with a line at the instant that is shown.

/** Steps of 1, 2 or 5 times a power of ten, about so many, that hold a range. */
function ticks(low, high, count) {
  const raw = (high - low) / count,
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw);
  const made = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) made.push(k * step);
  return made;
}

/** A plot of lines { colour, values } over time; ``pick`` gets the number of the sample under the pointer. */
function makePlot(host, title, time, lines, pick) {
  const canvas = element("canvas", { ariaLabel: title, role: "img" });
  host.append(canvas);
  let back = null,
    at = 0;
  const [left, right, top, bottom] = [46, 8, 20, 20];
  const finite = lines.flatMap(line => Array.from(line.values)).filter(Number.isFinite);
  let [low, high] = finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
  const room = 0.06 * (high - low) || 0.05 * Math.abs(high) || 1;
  [low, high] = [low - room, high + room];
  const [start, end] = [time[0], time[time.length - 1]];
  const place = () => {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    return {
      x: t => left + ((width - left - right) * (t - start)) / (end - start || 1),
      y: v => height - bottom - ((height - top - bottom) * (v - low)) / (high - low),
      width,
      height,
    };
  };
  function paint() {
    const ratio = window.devicePixelRatio || 1,
      { x, y, width, height } = place();
    if (!width) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
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
    for (const t of ticks(start, end, Math.max(2, Math.floor(width / 90))))
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
    back = pen.getImageData(0, 0, canvas.width, canvas.height);
    cursor();
  }
  function cursor() {
    if (!back) return;
    const pen = canvas.getContext("2d"),
      { x, y, height } = place();
    pen.putImageData(back, 0, 0);
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
    const { width } = place(),
      part = (event.offsetX - left) / (width - left - right);
    const t = start + Math.max(0, Math.min(1, part)) * (end - start);
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
  return k => {
    at = k;
    cursor();
  };
}

/** Play bar and plots below the robot; ``show`` is called with the number of an instant. */
function makeDock(host, motion, show) {
  const { time } = motion,
    last = time.length - 1;
  let playing = false,
    begun = 0,
    from = 0,
    now = 0;
  const button = element("button", { onclick: () => toggle() }, "Play");
  const bar = element("input", {
    type: "range",
    min: 0,
    max: last,
    step: 1,
    value: 0,
    ariaLabel: "instant of the motion",
    oninput: () => {
      stop();
      show(Number(bar.value));
    },
  });
  const told = element("output", {});
  host.append(element("div", { id: "play" }, button, bar, told));
  const area = element("div", { id: "plots" });
  host.append(area);
  const colour = k => scene.colours[scene.actuators[k].leg % scene.colours.length];
  const units = [...new Set(scene.actuators.map(a => a.unit))];
  const plots = [];
  const pick = k => {
    stop();
    show(k);
  };
  for (const unit of units) {
    const own = scene.actuators.map((a, k) => [a, k]).filter(([a]) => a.unit === unit);
    const name = units.length > 1 ? (unit === "m" ? "sliding " : "turning ") : "";
    plots.push(
      makePlot(
        area,
        `${name}actuators [${shown(unit)}]`,
        time,
        own.map(([, k]) => ({ colour: colour(k), values: motion.q.map(q => (q ? inShown(q[k], unit) : NaN)) })),
        pick,
      ),
    );
    plots.push(
      makePlot(
        area,
        `${unit === "m" ? "forces [N]" : "torques [N m]"}`,
        time,
        own.map(([, k]) => ({ colour: colour(k), values: motion.force.map(f => (f ? f[k] : NaN)) })),
        pick,
      ),
    );
  }
  plots.push(makePlot(area, "condition number", time, [{ colour: "#1d2733", values: motion.condition }], pick));
  const stop = () => {
    playing = false;
    button.textContent = "Play";
  };
  const step = () => {
    if (!playing) return;
    const t = from + (performance.now() - begun) / 1e3;
    let k = now;
    while (k < last && time[k + 1] <= t) k++;
    if (k !== now) show(k);
    if (k >= last) {
      stop();
      return;
    }
    requestAnimationFrame(step);
  };
  const toggle = () => {
    if (playing) {
      stop();
      return;
    }
    if (now >= last) show(0);
    playing = true;
    button.textContent = "Stop";
    begun = performance.now();
    from = time[now];
    requestAnimationFrame(step);
  };
  return {
    toggle,
    stop,
    step: by => {
      stop();
      show(Math.max(0, Math.min(last, now + by)));
    },
    at: k => {
      if (k === null) {
        stop();
        told.textContent = "";
        return;
      }
      now = k;
      bar.value = k;
      told.textContent = `${time[k].toFixed(3)} of ${time[last].toFixed(3)} s`;
      plots.forEach(plot => plot(k));
    },
  };
}
