// What is shown as a link and as a picture: the pose or the instant, and from where it is seen.

const told = element("span", { id: "told", role: "status" });
/** Says something for a while, over the picture. */
function tell(text) {
  told.textContent = text;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => {
    told.textContent = "";
  }, 4000);
}
const written = values => Array.from(values, x => Number(x.toPrecision(12))).join(",");

/** The part of the page's address after #: coordinates from home in SI units, internal ones last, or an
 * instant; then the view. */
function shownAs() {
  const what = index !== null && index !== GONE ? `at=${index}` : `x=${written([...ownAt(state.pose), ...inner])}`;
  const { azimuth, elevation, half, target, flat } = camera;
  return `#${what}&view=${written([azimuth, elevation, half, ...target])}${flat ? "&flat" : ""}`;
}

/** Shows what an address says; false where it says nothing that this robot can show. */
function openLink(hash) {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const numbers = (key, count) => {
    const found = (said.get(key) ?? "").split(",").map(text => (text.trim() === "" ? NaN : Number(text)));
    return found.length === count && found.every(Number.isFinite) ? found : null;
  };
  if (!said.has("x") && !said.has("at")) return true;
  const view = numbers("view", 6);
  if (view) {
    [camera.azimuth, camera.elevation, camera.half] = view;
    camera.target = view.slice(3);
    camera.flat = said.has("flat");
  }
  const instant = numbers("at", 1);
  if (instant && data.motion?.pose?.[instant[0]]) {
    app.setInstant(instant[0]);
    return true;
  }
  const count = scene.coordinates.length,
    values = numbers("x", count + inner.length);
  if (!values) return false;
  const before = inner.slice();
  inner.set(values.slice(count));
  const pose = placed(Float64Array.from(values.slice(0, count)));
  if (!pose) {
    inner.set(before);
    return false;
  }
  app.setPose(pose);
  return true;
}
const openAddress = () => {
  if (!openLink(location.hash)) tell("The link is of another robot: its pose is not shown.");
};

async function copyLink() {
  const hash = shownAs();
  history.replaceState(null, "", hash);
  try {
    await navigator.clipboard.writeText(location.href);
    tell("Link copied. It opens this page at this pose.");
  } catch (error) {
    tell("The link is in the address bar.");
  }
}

/** What is in view on a canvas, with names and the robot's, on white. */
async function picture() {
  const [width, height] = [place.clientWidth || 1, place.clientHeight || 1];
  const image = await stage.image();
  const scale = Math.max(1, (image.width || width) / width);
  const canvas = element("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, width, height);
  pen.drawImage(image, 0, 0, width, height);
  pen.font = "12px sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const good = state.reachable ? state : stage.last;
  for (const { tag, at, shown } of named) {
    const point = good && shown() && at(good.frames);
    if (!point) continue;
    pen.fillStyle = tag.style.color || "#22303c";
    pen.fillText(tag.textContent, ...stage.project(point));
  }
  pen.textAlign = "left";
  pen.fillStyle = "#22303c";
  const at = scene.coordinates.map((one, k) => `${one.name} ${textShown(x[k], one.unit)}`).join(", ");
  pen.fillText(`${scene.name}: ${at}`, 12, height - 14);
  return canvas;
}

async function savePicture() {
  const canvas = await picture();
  const link = element("a", { download: `${scene.name.replace(/[^\w.-]+/g, "-")}.png`, href: canvas.toDataURL("image/png") });
  link.click();
}

const shareBar = element("div", { className: "bar share" }, told);
if (location.protocol !== "about:")
  shareBar.append(element("button", { onclick: () => copyLink(), title: "A link with this pose and view in it" }, "Link"));
shareBar.append(element("button", { onclick: () => savePicture(), title: "The picture as a PNG file" }, "PNG"));
place.append(shareBar);
window.addEventListener("hashchange", openAddress);
