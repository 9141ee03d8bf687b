// From where the robot is seen: a direction about a point, the height of the picture, presets.

const up = (() => {
  const size = Math.hypot(...scene.gravity);
  return size > 0 ? scene.gravity.map(g => -g / size) : [0, 0, 1];
})();
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const add = (a, b, s = 1) => a.map((x, k) => x + s * b[k]);
const unit = a => a.map(x => x / Math.hypot(...a));
// right-handed axes with the third up: the base's x lies in the floor if it can
const across = unit(Math.abs(up[0]) < 0.9 ? add([1, 0, 0], up, -up[0]) : add([0, 1, 0], up, -up[1]));
const ahead = cross(up, across);
const VIEWS = { Iso: [-55, 20], Front: [-90, 0], Side: [0, 0], Plan: [-90, 90] };

/** Angle and height [degrees] of the eye, middle of the picture and half its height [m]; ``shape`` is height / width. */
function makeCamera(points) {
  const camera = { azimuth: 0, elevation: 0, target: [0, 0, 0], half: 1, flat: false, shape: 1 };
  const extent = axis => {
    const all = points.map(p => dot(p, axis));
    return [Math.min(...all), Math.max(...all)];
  };
  camera.radius =
    Math.hypot(
      ...[across, ahead, up].map(axis => {
        const [low, high] = extent(axis);
        return high - low;
      }),
    ) / 2;
  camera.middle = [across, ahead, up].reduce(
    (sum, axis) => {
      const [low, high] = extent(axis);
      return add(sum, axis, (low + high) / 2);
    },
    [0, 0, 0],
  );

  /** The whole robot at home in the picture, with room around it. */
  camera.fit = () => {
    const { back, right, top } = camera.axes();
    const [[left, rightmost], [low, high], [far, near]] = [right, top, back].map(extent);
    camera.target = [
      [right, left + rightmost],
      [top, low + high],
      [back, far + near],
    ].reduce((sum, [axis, twice]) => add(sum, axis, twice / 2), [0, 0, 0]);
    camera.half =
      0.77 * Math.max(high - low, (rightmost - left) * camera.shape, 0.2 * camera.radius) + 0.06 * camera.radius;
    camera.target = add(camera.target, top, 0.03 * camera.half); // room for the heading
  };
  camera.look = name => {
    [camera.azimuth, camera.elevation] = VIEWS[name];
    camera.flat = name !== "Iso";
    camera.fit();
  };
  camera.turn = (right, down) => {
    camera.azimuth -= right;
    camera.elevation = Math.max(-90, Math.min(90, camera.elevation + down));
    camera.flat = false;
  };
  camera.zoom = factor => {
    camera.half = Math.max(0.02 * camera.radius, Math.min(20 * camera.radius, camera.half * factor));
  };
  /** Directions in the base: to the eye, right and up on the screen. */
  camera.axes = () => {
    const [a, e] = [camera.azimuth, camera.elevation].map(x => (x * Math.PI) / 180);
    const level = add(
      across.map(x => x * Math.cos(a)),
      ahead,
      Math.sin(a),
    );
    const right = add(
      across.map(x => -x * Math.sin(a)),
      ahead,
      Math.cos(a),
    );
    const back = add(
      level.map(x => x * Math.cos(e)),
      up,
      Math.sin(e),
    );
    return { back, right, top: cross(back, right) };
  };
  /** Moves the picture by parts of its height. */
  camera.pan = (right, down) => {
    const axes = camera.axes();
    camera.target = add(add(camera.target, axes.right, -2 * camera.half * right), axes.top, 2 * camera.half * down);
  };
  camera.look("Iso");
  return camera;
}
