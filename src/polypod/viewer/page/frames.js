// One of several robots in a frame: its own interactive page, made of parts that stand once for all robots.

/** Unpacks pages of robots; gives a function that shows the robot of a number in the frame, seen as the last one was. */
async function liveFrames(frame, packed) {
  const bytes = Uint8Array.from(atob(packed), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { before, after, style, texts, robots } = await new Response(stream).json();
  const program = ({ functions, data }) => {
    const fields = Object.entries(data).map(([key, number]) => `${JSON.stringify(key)}: ${texts[number]}`);
    return [before, `const data = { ${fields.join(", ")} };`, texts[functions], after].join("\n");
  };
  /** From where the last robot was seen and where it was, so that the eye compares robots, not pictures. */
  const seen = () => {
    const page = frame.contentWindow?.polypod;
    if (!page) return null;
    const { azimuth, elevation, target, half, flat } = page.camera;
    const moved = page.state.x.map((value, k) => value - page.scene.coordinates[k].home);
    return { camera: { azimuth, elevation, target, half, flat }, moved, instant: page.instant };
  };
  const restore = (page, before) => {
    Object.assign(page.camera, before.camera);
    if (before.instant !== null) page.setInstant(before.instant);
    else page.setCoordinates(before.moved.map((value, k) => value + page.scene.coordinates[k].home));
    page.draw();
  };
  return number => {
    const last = seen();
    frame.onload = () => {
      const script = frame.contentDocument.createElement("script");
      script.textContent = program(robots[number]);
      frame.contentDocument.head.append(script);
      if (last) restore(frame.contentWindow.polypod, last);
      frame.dataset.shown = number;
    };
    frame.srcdoc = `<!DOCTYPE html><html lang="en"><head><style>${style}</style></head><body><div id="app"></div></body></html>`;
  };
}
