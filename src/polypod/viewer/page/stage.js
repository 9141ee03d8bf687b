// The robot in three dimensions, by three.js: made once, then moved. Everything is in the base frame, in metres.

const SLOW = 80; // ms for a picture
const RED = 0xc62828,
  STEEL = 0xc3cad1,
  DARK = 0x4a545e,
  FORCE = 0xc2185b;

function makeStage(host, camera) {
  const renderer = new T.WebGLRenderer({ antialias: true, alpha: true });
  renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = T.PCFShadowMap;
  host.append(renderer.domElement);
  const world = new T.Scene(),
    eye = new T.PerspectiveCamera(28, 1, 0.01, 100);
  const r = ROD;
  const paint = (colour, more = {}) =>
    new T.MeshStandardMaterial({ color: colour, roughness: 0.55, metalness: 0.08, ...more });
  const clear = (colour, opacity) =>
    paint(colour, { transparent: true, opacity, depthWrite: false, side: T.DoubleSide });
  const always = colour =>
    new T.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true, opacity: 0.92 });
  const legColour = leg => scene.colours[leg % scene.colours.length];

  // light from above, right and in front, with the shadow on a floor
  world.add(new T.HemisphereLight(0xffffff, 0xc4ccd6, 2.1));
  const sun = new T.DirectionalLight(0xffffff, 2.0);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.radius = 5;
  world.add(sun, sun.target);

  const mesh = (geometry, material, shadow = true) => {
    const made = new T.Mesh(geometry, material);
    made.castShadow = shadow;
    return made;
  };
  const rod = new T.CylinderGeometry(1, 1, 1, 24),
    ball = new T.SphereGeometry(1, 28, 18);
  const Y = new T.Vector3(0, 1, 0);
  /** Puts a cylinder of a radius from a to b; none if they coincide. */
  function span(cylinder, a, b, radius) {
    const along = vector(b).sub(vector(a)),
      length = along.length();
    cylinder.visible = length > 1e-9;
    if (!cylinder.visible) return;
    cylinder.position.copy(vector(a)).addScaledVector(along, 0.5);
    cylinder.quaternion.setFromUnitVectors(Y, along.divideScalar(length));
    cylinder.scale.set(radius, length, radius);
  }
  const moves = []; // functions of (frames, state) that move a part
  const keep = (part, move) => {
    world.add(part);
    if (move) moves.push(move);
    return part;
  };
  const follow = (part, body) => {
    part.matrixAutoUpdate = false;
    return keep(part, frames => part.matrix.set(...frames[body]));
  };

  // -- the parts: every shape in the frame of its body ----------------------------------------------------------------
  const skins = scene.legs.map((_, leg) => paint(legColour(leg)));
  const platform = new T.Group(),
    ghost = new T.Group();
  const platformSkin = paint(0x9db7c9),
    ghostSkin = clear(RED, 0.35),
    steel = paint(STEEL, { metalness: 0.25, roughness: 0.4 }),
    own = {
      rod: steel,
      rail: paint(STEEL),
      joint: paint(DARK),
      base: paint(0xd5dbe1),
      platform: platformSkin,
      payload: clear(0xb7791f, 0.35),
    };
  for (const shape of scene.shapes) {
    const geometry = grown(shape),
      part = mesh(geometry, own[shape.role] ?? skins[shape.leg] ?? steel, shape.role !== "payload");
    if (shape.body === 1) {
      platform.add(part);
      if (shape.role === "platform") ghost.add(new T.Mesh(geometry, ghostSkin));
    } else if (shape.body === 0) {
      keep(part);
      part.receiveShadow = shape.role === "base";
    } else follow(part, shape.body);
  }
  const grip = new T.Mesh(ball, new T.MeshBasicMaterial({ visible: false })); // easier to catch than thin parts
  grip.scale.setScalar(6 * r);
  platform.add(grip);
  follow(platform, 1);
  ghost.matrixAutoUpdate = false;
  ghost.visible = false;
  world.add(ghost);

  // -- frames of base and platform, centre of mass, cones, forces ----------------------------------------------------------
  const triad = size => {
    const group = new T.Group();
    [0xd32f2f, 0x2e9e45, 0x1f62d0].forEach((colour, k) => {
      const end = [0, 0, 0];
      end[k] = size;
      const part = mesh(rod, new T.MeshBasicMaterial({ color: colour, depthTest: false }), false),
        head = mesh(new T.ConeGeometry(1, 1, 16), part.material, false);
      span(part, [0, 0, 0], end, 0.32 * r);
      head.scale.set(0.9 * r, 2.4 * r, 0.9 * r);
      head.position.copy(vector(end));
      head.quaternion.copy(part.quaternion);
      part.renderOrder = head.renderOrder = 3; // a plate must not hide its own frame
      group.add(part, head);
    });
    return group;
  };
  const triads = [keep(triad(13 * r)), follow(triad(13 * r), 1)];
  const quarters = new T.CanvasTexture(massMark());
  quarters.colorSpace = "srgb";
  const mark = keep(new T.Sprite(new T.SpriteMaterial({ map: quarters, depthTest: false })));
  mark.scale.setScalar(5 * r);
  mark.renderOrder = 5;
  moves.push(frames => mark.position.copy(vector(centreOfMass(frames).at)));
  const cones = scene.cones.map(cone => {
    const length = 0.3 * scene.scale,
      part = mesh(
        new T.ConeGeometry(length * Math.sin(cone.half_angle), length * Math.cos(cone.half_angle), 40, 1, true),
        clear(legColour(cone.leg), 0.16),
        false,
      );
    part.geometry.translate(0, -0.5 * length * Math.cos(cone.half_angle), 0).rotateX(Math.PI); // tip at the origin, along +y
    return keep(part, (frames, state) => {
      part.position.copy(vector(jointPoint(frames, cone.joint)));
      part.quaternion.setFromUnitVectors(Y, vector(turned(frames[cone.body], cone.axis)).normalize());
      const over = state.limits[cone.limit].over;
      part.material.color.set(over ? RED : legColour(cone.leg));
      part.material.opacity = over ? 0.4 : 0.16;
    });
  });
  const surface = data.workspace?.length ? keep(new T.Mesh(shell(data.workspace), clear(0x0072b2, 0.14))) : null;
  const arrows = scene.actuators.map(actuator => {
    const part = new T.Group(),
      skin = always(FORCE);
    const shaft = mesh(rod, skin, false),
      head = mesh(new T.ConeGeometry(1, 1, 20), skin, false);
    const ring = mesh(new T.TorusGeometry(1, 0.09, 10, 48, 1.5 * Math.PI), skin, false);
    part.add(shaft, head, ring);
    part.renderOrder = 4;
    part.children.forEach(child => {
      child.renderOrder = 4;
    });
    return keep(part);
  });
  function drawForce(k, state) {
    const actuator = scene.actuators[k],
      part = arrows[k],
      [shaft, head, ring] = part.children;
    part.visible = state.force !== null && shows.forces;
    if (!part.visible) return;
    const at = jointPoint(state.frames, actuator.joint);
    const size = Math.min(1.6, Math.abs(state.force[k]) / (stage.forceScale[actuator.force_unit] || 1));
    const axis = jointAxis(state.frames, actuator.joint, 0).map(x => x * actuator.forwards),
      push = state.force[k] >= 0 ? 1 : -1;
    const { kind } = scene.joints[actuator.joint];
    ring.visible = kind === "revolute" || (kind !== "prismatic" && actuator.unit === "rad");
    shaft.visible = !ring.visible;
    if (size < 1e-6) {
      part.visible = false;
      return;
    }
    if (ring.visible) {
      const radius = (2.6 + 5 * size) * r,
        basis = axisFrame(axis.map(x => x * push));
      ring.quaternion.setFromRotationMatrix(basis);
      ring.position.copy(vector(at));
      ring.scale.setScalar(radius);
      const [first, second] = [0, 1].map(n => new T.Vector3().setFromMatrixColumn(basis, n));
      head.position.copy(vector(at)).addScaledVector(second, -radius); // where three quarters of a turn end
      head.quaternion.setFromUnitVectors(Y, first);
      head.scale.set(1.3 * r, 3 * r, 1.3 * r);
      return;
    }
    // beyond the joint, away from the leg: it leaves the joint if the leg pushes and comes to it if it pulls
    const length = 0.3 * scene.scale * size,
      tip = Math.min(3.4 * r, 0.6 * length),
      start = add(at, axis, 2 * r),
      end = add(start, axis, length);
    const [from, to] = push > 0 ? [start, end] : [end, start],
      way = axis.map(x => x * push);
    span(shaft, from, add(to, way, -tip), 0.5 * r);
    span(head, add(to, way, -tip), to, 1.35 * r);
  }

  // -- floor ---------------------------------------------------------------------------------------------------------
  const heights = [...drawnPoints(), toBase(scene.home, [0, 0, 0])].map(p => dot(p, up));
  const level = scene.floor ? dot(scene.floor.at, up) : Math.min(...heights) - 4 * r,
    floor = new T.Group();
  const grid = new T.GridHelper(6 * scene.scale, 24, 0xc3ccd5, 0xd7dee5);
  grid.rotation.x = Math.PI / 2;
  grid.material.transparent = true;
  grid.material.opacity = 0.75;
  const shade = new T.Mesh(
    new T.PlaneGeometry(12 * scene.scale, 12 * scene.scale),
    new T.ShadowMaterial({ opacity: 0.16 }),
  );
  shade.receiveShadow = true;
  floor.add(grid, shade);
  floor.matrixAutoUpdate = false;
  floor.matrix.makeBasis(vector(across), vector(ahead), vector(up)).setPosition(vector(up.map(x => x * level)));
  if (scene.floor) floor.matrix.copy(axisFrame(scene.floor.normal)).setPosition(vector(scene.floor.at));
  world.add(floor);
  const centre = camera.middle,
    reach = camera.radius;
  sun.position.copy(vector(add(add(add(centre, up, 3 * reach), across, 1.2 * reach), ahead, -1.6 * reach)));
  sun.target.position.copy(vector(centre));
  Object.assign(sun.shadow.camera, {
    left: -2 * reach,
    right: 2 * reach,
    top: 2 * reach,
    bottom: -2 * reach,
    near: 0.1 * reach,
    far: 8 * reach,
  });
  sun.shadow.bias = -5e-4;

  // -- what the page calls -------------------------------------------------------------------------------------------
  const stage = { live: true, forceScale: {}, last: null };
  stage.update = state => {
    const good = state.reachable ? state : stage.last;
    ghost.visible = !state.reachable;
    if (ghost.visible) ghost.matrix.set(...state.pose);
    platformSkin.color.set(state.singular ? RED : 0x9db7c9);
    const over = state.reachable ? state.overLegs : state.lostLegs;
    skins.forEach((skin, leg) => skin.color.set(over.has(leg) ? RED : legColour(leg)));
    if (good) {
      stage.last = good;
      for (const move of moves) move(good.frames, good);
      arrows.forEach((_, k) => drawForce(k, state.reachable ? state : { ...good, force: null }));
      mark.visible = shows.mass;
      triads.forEach(one => {
        one.visible = shows.frames;
      });
      if (surface) surface.visible = shows.workspace;
      cones.forEach(one => {
        one.visible = shows.cones;
      });
    }
  };
  const project = point => {
    const p = vector(point).project(eye);
    return [((p.x + 1) / 2) * host.clientWidth, ((1 - p.y) / 2) * host.clientHeight];
  };
  stage.project = project;
  stage.draw = () => {
    const [width, height] = [host.clientWidth || 1, host.clientHeight || 1],
      axes = camera.axes();
    renderer.setSize(width, height, false);
    eye.aspect = width / height;
    eye.fov = camera.flat ? 3 : 28;
    const distance = camera.half / Math.tan((eye.fov * Math.PI) / 360);
    eye.position.copy(vector(add(camera.target, axes.back, distance)));
    eye.up.copy(vector(axes.top));
    eye.lookAt(vector(camera.target));
    eye.near = Math.max(distance - 8 * camera.radius, distance / 500);
    eye.far = distance + 12 * camera.radius;
    eye.updateProjectionMatrix();
    eye.updateMatrixWorld();
    const begun = performance.now();
    renderer.render(world, eye);
    // a machine that draws in software does without shadows and fine pixels; the first picture also compiles
    if (drawn++ === 1) {
      renderer.getContext().finish();
      if (performance.now() - begun > SLOW) {
        sun.castShadow = false;
        renderer.setPixelRatio(1);
      }
    }
  };
  /** The picture as it is, to be drawn elsewhere at once. */
  stage.image = () => {
    stage.draw();
    return renderer.domElement;
  };
  let drawn = 0;
  const ray = new T.Raycaster();
  /** The point of the platform under a place of the screen, or null. */
  stage.platformAt = (x, y) => {
    const place = new T.Vector2((2 * x) / host.clientWidth - 1, 1 - (2 * y) / host.clientHeight);
    ray.setFromCamera(place, eye);
    const hits = ray.intersectObjects(ghost.visible ? [platform, ghost] : [platform], true);
    return hits.length ? hits[0].point.toArray() : null;
  };
  stage.hover = on => {
    platformSkin.emissive.set(on ? 0x2a6f9e : 0);
    platformSkin.emissiveIntensity = on ? 0.35 : 0;
  };
  return stage;
}
