// Shapes that three.js does not have: plates with round corners, solids of triangles, the mark of a centre of mass.

const T = THREE;
const ROD = 0.014 * scene.scale; // radius of a rod, what everything is sized by
const vector = a => new T.Vector3(...a);

/** A direction of the base, in the frame of base or platform at home. */
function directionIn(body, way) {
  const pose = scene.home;
  return body === 0 ? way : [0, 1, 2].map(k => pose[k] * way[0] + pose[4 + k] * way[1] + pose[8 + k] * way[2]);
}

/** A plate with round corners: the outline of base or platform, grown, of a thickness, on the far side of its joints.
 *
 * Far is away from the robot's middle; where all joints lie in one plane, away from ``eye``, the base behind the rest.
 */
function rounded(plate, grow, thick, eye) {
  const { outline, body } = plate,
    all = drawnPoints();
  const middle = vector([0, 1, 2].map(k => outline.reduce((sum, p) => sum + p[k], 0) / outline.length));
  const corners = outline.map(vector);
  const u = corners[0].clone().sub(middle).normalize();
  const normal = u.clone().cross(corners[1].clone().sub(middle)).normalize(); // corners are in order
  const v = normal.clone().cross(u);
  const flat = corners.map(p => [p.clone().sub(middle).dot(u), p.clone().sub(middle).dot(v)]);
  const shape = new T.Shape(),
    n = flat.length;
  const outward = (a, b) => Math.atan2(-(b[0] - a[0]), b[1] - a[1]); // of an edge of corners that go round to the left
  flat.forEach((p, k) => {
    const from = outward(flat[(k + n - 1) % n], p);
    let to = outward(p, flat[(k + 1) % n]);
    while (to < from - 1e-9) to += 2 * Math.PI;
    for (let i = 0; i <= 6; i++) {
      const a = from + ((to - from) * i) / 6,
        x = p[0] + grow * Math.cos(a),
        y = p[1] + grow * Math.sin(a);
      if (k === 0 && i === 0) shape.moveTo(x, y);
      else shape.lineTo(x, y);
    }
  });
  const bevel = 0.2 * thick;
  const made = new T.ExtrudeGeometry(shape, {
    depth: thick - 2 * bevel,
    bevelEnabled: true,
    bevelThickness: bevel,
    bevelSize: bevel,
    bevelSegments: 2,
    curveSegments: 4,
  });
  const robot = [0, 1, 2].map(k => all.reduce((sum, p) => sum + p[k] / all.length, 0));
  const origin = body === 0 ? [0, 0, 0] : [scene.home[3], scene.home[7], scene.home[11]];
  const height = vector(directionIn(body, add(robot, origin, -1)))
    .sub(middle)
    .dot(normal);
  const flush = Math.abs(height) < 0.02 * scene.scale;
  const side = (flush ? vector(directionIn(body, eye)).dot(normal) : height) >= 0 ? -1 : 1;
  const gap = flush && body === 0 ? 3.4 * ROD : 0.9 * ROD;
  made.translate(0, 0, bevel - 0.5 * thick + side * (0.5 * thick + gap));
  return made.applyMatrix4(new T.Matrix4().makeBasis(u, v, normal).setPosition(middle));
}

/** A solid of triangles. */
function faceted(faces) {
  const made = new T.BufferGeometry();
  made.setAttribute("position", new T.BufferAttribute(Float32Array.from(faces.flat(2)), 3));
  made.computeVertexNormals();
  return made;
}

/** A closed shell of rings of points from one pole to the other; the poles are the middles of the first and last ring. */
function shell(rings) {
  const middle = ring => [0, 1, 2].map(k => ring.reduce((sum, p) => sum + p[k] / ring.length, 0));
  const [first, last] = [rings[0], rings[rings.length - 1]].map(middle);
  const faces = [];
  const next = (ring, j) => ring[(j + 1) % ring.length];
  rings[0].forEach((p, j) => faces.push([first, p, next(rings[0], j)]));
  for (let i = 0; i + 1 < rings.length; i++)
    rings[i].forEach((p, j) => {
      const [q, below] = [next(rings[i], j), rings[i + 1]];
      faces.push([p, below[j], next(below, j)], [p, next(below, j), q]);
    });
  const end = rings[rings.length - 1];
  end.forEach((p, j) => faces.push([p, last, next(end, j)]));
  return faceted(faces);
}

/** A disc of quarters, black and white, as drawings mark a centre of mass. */
function massMark() {
  const canvas = document.createElement("canvas"),
    pen = canvas.getContext("2d");
  canvas.width = canvas.height = 128;
  [0, 1, 2, 3].forEach(k => {
    pen.beginPath();
    pen.moveTo(64, 64);
    pen.arc(64, 64, 56, (k * Math.PI) / 2, ((k + 1) * Math.PI) / 2);
    pen.fillStyle = k % 2 ? "#ffffff" : "#1d2733";
    pen.fill();
  });
  pen.lineWidth = 8;
  pen.strokeStyle = "#1d2733";
  pen.beginPath();
  pen.arc(64, 64, 56, 0, 2 * Math.PI);
  pen.stroke();
  return canvas;
}

/** Axes with the third along a direction. */
function axisFrame(axis) {
  const z = vector(axis).normalize(),
    x = vector(Math.abs(dot(axis, up)) < 0.9 ? up : across)
      .cross(z)
      .normalize();
  return new T.Matrix4().makeBasis(x, z.clone().cross(x), z);
}

/** Points that a picture of the robot at home must hold. */
function drawnPoints() {
  const frames = framesOf(scene.home, call.bodies({ pose: scene.home }).bodies);
  const points = scene.joints.map((_, k) => jointPoint(frames, k));
  for (const rail of scene.rails) points.push(...rail.ends);
  for (const load of scene.payloads)
    for (const side of [-0.5, 0.5])
      [0, 1, 2].forEach(k => {
        points.push(toBase(frames[1], load.com.map((c, i) => c + side * load.sides[k] * load.axes[i][k])));
      });
  for (const plate of scene.plates) points.push(...plate.outline.map(p => toBase(frames[plate.body], p)));
  return points;
}
