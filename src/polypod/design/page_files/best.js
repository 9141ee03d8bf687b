"use strict";
const data = JSON.parse(document.getElementById("data").textContent), $ = id => document.getElementById(id);
let chosen = 0;
const axes = [
  ...data.quantities.map((q, i) => ({ label: q[0], unit: q[1], better: data.better[i], of: p => p.quantities[i] })),
  ...data.varied.map((q, i) => ({ label: q[0], unit: q[1], varied: true, of: p => p.values[i] })),
];
const power = { "m^2": "m\u00b2", "m^3": "m\u00b3", "rad^3": "rad\u00b3" };
for (const a of axes) a.unit = power[a.unit] || a.unit;
const named = a => (a.unit ? `${a.label} [${a.unit}]` : a.label);
const titled = a => (a.better ? `${named(a)}, ${a.better} is better` : named(a));
for (const [id, first] of [["across", 0], ["up", Math.min(1, axes.length - 1)]]) {
  axes.forEach((a, i) => $(id).add(new Option(named(a), i)));
  $(id).value = first;
  $(id).onchange = plot;
}
function node(kind, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return $("plot").appendChild(element);
}
function range(values) {
  const low = Math.min(...values), high = Math.max(...values);
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
  const px = v => 62 + 408 * (v - x0) / (x1 - x0), py = v => 332 - 322 * (v - y0) / (y1 - y0);
  for (const v of ticks(x0, x1)) {
    node("line", { x1: px(v), x2: px(v), y1: 10, y2: 332, stroke: "#e4e9ee" });
    node("text", { x: px(v), y: 349, "text-anchor": "middle" }, v);
  }
  for (const w of ticks(y0, y1)) {
    node("line", { x1: 62, x2: 470, y1: py(w), y2: py(w), stroke: "#e4e9ee" });
    node("text", { x: 56, y: py(w) + 4, "text-anchor": "end" }, w);
  }
  node("text", { x: 266, y: 372, "text-anchor": "middle", class: "title" }, titled(a));
  node("text", { x: 13, y: 171, "text-anchor": "middle", class: "title", transform: "rotate(-90 13 171)" }, titled(b));
  const last = data.points.map((_, i) => i).filter(i => i !== chosen).concat(chosen); // the chosen one above the others
  for (const i of last) {
    const p = data.points[i];
    const dot = node("circle", {
      cx: px(a.of(p)), cy: py(b.of(p)), r: i === chosen ? 8 : 5, fill: i === chosen ? "#d55e00" : "#0072b2", stroke: "#fff",
    });
    dot.onclick = () => choose(i);
    dot.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "title")).textContent = p.name;
  }
}
let show = () => {};
function choose(i) {
  chosen = (i + data.points.length) % data.points.length;
  const p = data.points[chosen];
  $("name").textContent = p.name;
  $("verdict").textContent = p.verdict;
  $("numbers").replaceChildren();
  for (const a of axes) {
    const row = $("numbers").insertRow(), limit = data.limits[a.label];
    if (a.varied) row.className = "varied";
    row.insertCell().textContent = a.label;
    row.insertCell().textContent = a.of(p);
    row.insertCell().textContent = a.unit + (limit === undefined ? "" : `  (limit ${limit})`);
  }
  plot();
  show(chosen);
}
$("take").onclick = () => {
  const link = document.createElement("a"), p = data.points[chosen];
  link.href = URL.createObjectURL(new Blob([p.file], { type: "text/yaml" }));
  link.download = p.name + ".yaml";
  link.click();
};
$("before").onclick = () => choose(chosen - 1);
$("after").onclick = () => choose(chosen + 1);
document.onkeydown = e => {
  if (e.target.tagName === "SELECT") return;
  if (e.key === "ArrowRight" || e.key === "ArrowLeft") choose(chosen + (e.key === "ArrowRight" ? 1 : -1));
};
choose(0);
liveFrames($("robot"), $("robots").textContent.trim()).then(ready => {
  show = ready;
  show(chosen);
});
