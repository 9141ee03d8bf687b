"use strict";
const data = JSON.parse(document.getElementById("data").textContent), $ = id => document.getElementById(id);
let chosen = 0, turn = 0.6, tilt = 0.45;
const axes = [...data.quantities.map((q, i) => ({label: q[0], unit: q[1], better: data.better[i],
                                                of: p => p.quantities[i]})),
              ...data.varied.map((q, i) => ({label: q[0], unit: q[1], of: p => p.values[i]}))];
const power = {"m^2": "m\u00b2", "m^3": "m\u00b3", "rad^3": "rad\u00b3"};
for (const a of axes) a.unit = power[a.unit] || a.unit;
const named = a => a.unit ? a.label + " [" + a.unit + "]" : a.label;
const titled = a => a.better ? named(a) + ", " + a.better + " is better" : named(a);
for (const [id, first] of [["across", 0], ["up", Math.min(1, axes.length - 1)]]) {
  axes.forEach((a, i) => $(id).add(new Option(named(a), i)));
  $(id).value = first; $(id).onchange = plot;
}
function node(kind, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return $("plot").appendChild(element);
}
function range(values) {
  let low = Math.min(...values), high = Math.max(...values);
  const pad = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1;
  return [low - pad, high + pad];
}
function ticks(low, high) {
  const rough = (high - low) / 4, ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * [1, 2, 5, 10].find(k => k * ten >= rough), found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(6)));
  return found;
}
function plot() {
  $("plot").replaceChildren();
  const a = axes[$("across").value], b = axes[$("up").value];
  const [x0, x1] = range(data.points.map(a.of)), [y0, y1] = range(data.points.map(b.of));
  const px = v => 70 + 395 * (v - x0) / (x1 - x0), py = v => 350 - 335 * (v - y0) / (y1 - y0);
  for (const v of ticks(x0, x1)) {
    node("line", {x1: px(v), x2: px(v), y1: 15, y2: 350, stroke: "#e6eaf0"});
    node("text", {x: px(v), y: 367, "text-anchor": "middle", "font-size": 11}, v);
  }
  for (const w of ticks(y0, y1)) {
    node("line", {x1: 70, x2: 465, y1: py(w), y2: py(w), stroke: "#e6eaf0"});
    node("text", {x: 64, y: py(w) + 4, "text-anchor": "end", "font-size": 11}, w);
  }
  node("text", {x: 267, y: 390, "text-anchor": "middle", "font-size": 13}, titled(a));
  node("text", {x: 14, y: 182, "text-anchor": "middle", "font-size": 13, transform: "rotate(-90 14 182)"},
       titled(b));
  data.points.forEach((p, i) => {
    const dot = node("circle", {cx: px(a.of(p)), cy: py(b.of(p)), r: i === chosen ? 8 : 5,
      fill: i === chosen ? "#d1495b" : "#2e6f9e", stroke: "#fff"});
    dot.onclick = () => choose(i);
    dot.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "title")).textContent = p.name;
  });
}
const colours = {base: "#7a8696", leg: "#2e6f9e", platform: "#d1495b"};
const every = data.points.flatMap(p => p.lines.flatMap(l => [l.slice(1, 4), l.slice(4, 7)]));
const middle = [0, 1, 2].map(k => (Math.min(...every.map(p => p[k])) + Math.max(...every.map(p => p[k]))) / 2);
const size = Math.max(...every.map(p => Math.hypot(...p.map((v, k) => v - middle[k]))));
function draw() {
  const c = $("robot"), g = c.getContext("2d"), s = 0.46 * Math.min(c.width, c.height) / size;
  const at = p => {
    const [x, y, z] = p.map((v, k) => v - middle[k]);
    const u = Math.cos(turn) * x - Math.sin(turn) * y, d = Math.sin(turn) * x + Math.cos(turn) * y;
    return [c.width / 2 + s * u, c.height / 2 - s * (z * Math.cos(tilt) + d * Math.sin(tilt))];
  };
  g.clearRect(0, 0, c.width, c.height); g.lineCap = "round";
  for (const [kind, ...n] of data.points[chosen].lines) {
    g.strokeStyle = colours[kind]; g.lineWidth = kind === "leg" ? 6 : 4; g.beginPath();
    g.moveTo(...at(n.slice(0, 3))); g.lineTo(...at(n.slice(3))); g.stroke();
  }
}
function choose(i) {
  chosen = (i + data.points.length) % data.points.length;
  const p = data.points[chosen];
  $("name").textContent = p.name; $("numbers").replaceChildren();
  for (const a of axes) {
    const row = $("numbers").insertRow(), limit = data.limits[a.label];
    row.insertCell().textContent = a.label; row.insertCell().textContent = a.of(p);
    const allowed = limit === undefined ? "" : "  (limit " + limit + ")";
    row.insertCell().textContent = a.unit + allowed;
  }
  plot(); draw();
}
$("take").onclick = () => {
  const link = document.createElement("a"), p = data.points[chosen];
  link.href = URL.createObjectURL(new Blob([p.file], {type: "text/yaml"}));
  link.download = p.name + ".yaml"; link.click();
};
$("robot").onpointerdown = e => { $("robot").setPointerCapture(e.pointerId); };
$("robot").onpointermove = e => {
  if (!e.buttons) return;
  turn -= e.movementX / 150; tilt = Math.max(-1.5, Math.min(1.5, tilt + e.movementY / 150)); draw();
};
document.onkeydown = e => {
  if (e.target.tagName === "SELECT") return;
  if (e.key === "ArrowRight" || e.key === "ArrowLeft") choose(chosen + (e.key === "ArrowRight" ? 1 : -1));
};
choose(0);
