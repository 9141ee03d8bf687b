// Shapes as three.js draws them: grown hulls, solids of triangles, the mark of a centre of mass.

const T = THREE;
const ROD = scene.rod; // radius of a rod, what everything is sized by
const vector = a => new T.Vector3(...a);

/** Axes of a plate: its middle, two directions in it and its normal, right-handed with the order of its corners. */
function plateAxes(points) {
  const corners = points.map(vector),
    middle = corners.reduce((sum, p) => sum.add(p), new T.Vector3()).divideScalar(corners.length),
    from = corners.map(p => p.clone().sub(middle)),
    u = corners[1].clone().sub(corners[0]).normalize();
  const total = new T.Vector3();
  from.forEach((p, k) => total.add(p.clone().cross(from[(k + 1) % from.length])));
  if (points.length === 2) total.set(...[0, 1, 2].map(k => (Math.abs(u.getComponent(k)) < 0.6 ? 1 : 0))).cross(u);
  const normal = total.normalize();
  return { middle, u, v: normal.clone().cross(u), normal };
}

/** The hull of points grown by a radius: a sphere, a capsule (a cylinder if it is flat) or a plate with round edges.
 *
 * Rings of the outline grown by r cos a at heights r sin a, closed by its two faces; the outline of a line is round it.
 */
function grown({ points, radius, flat }) {
  if (points.length === 1) return new T.SphereGeometry(radius, 28, 18).translate(...points[0]);
  const { middle, u, v, normal } = plateAxes(points);
  if (flat) {
    const made = new T.CylinderGeometry(radius, radius, Math.hypot(...add(points[1], points[0], -1)), 24);
    return made.applyMatrix4(new T.Matrix4().makeBasis(v, u, normal.negate()).setPosition(middle));
  }
  const n = points.length,
    arc = n === 2 ? 12 : 4,
    levels = n === 2 ? 12 : 6;
  const corners = points.map(p => [u, v].map(axis => vector(p).sub(middle).dot(axis)));
  const outward = (a, b) => Math.atan2(-(b[0] - a[0]), b[1] - a[1]); // of an edge of corners that go round to the left
  const ring = [];
  corners.forEach((p, k) => {
    const from = outward(corners[(k + n - 1) % n], p);
    let to = outward(p, corners[(k + 1) % n]);
    while (to < from - 1e-9) to += 2 * Math.PI;
    for (let i = 0; i <= arc; i++) ring.push([p, from + ((to - from) * i) / arc]);
  });
  const places = [],
    faces = [],
    size = ring.length;
  for (let level = 0; level <= levels; level++) {
    const a = Math.PI * (level / levels - 0.5),
      out = radius * Math.cos(a);
    for (const [p, way] of ring)
      places.push(p[0] + out * Math.cos(way), p[1] + out * Math.sin(way), radius * Math.sin(a));
  }
  for (let level = 0; level < levels; level++)
    for (let k = 0; k < size; k++) {
      const [a, b] = [level * size + k, level * size + ((k + 1) % size)];
      faces.push(a, b, b + size, a, b + size, a + size);
    }
  for (let k = 2; k < n; k++) {
    const [a, b, c] = [0, k - 1, k].map(corner => (arc + 1) * corner);
    faces.push(a, c, b, levels * size + a, levels * size + b, levels * size + c);
  }
  const made = new T.BufferGeometry();
  made.setAttribute("position", new T.BufferAttribute(Float32Array.from(places), 3));
  made.setIndex(faces);
  made.computeVertexNormals();
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
  for (const shape of scene.shapes)
    if (shape.role !== "joint") points.push(...shape.points.map(p => toBase(frames[shape.body], p)));
  return points;
}
