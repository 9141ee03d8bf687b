// A simulation under way: its samples as the server of this page sends them, and what it is asked to do.

/** Samples go into ``motion``; ``open`` starts to listen. A sample is one row of numbers, as the server lays it out. */
function makeStream(motion, { duration, actuators, speed }) {
  const stream = { duration, speed, running: true, ended: "", number: 0 };
  const columns = { time: 1, pose: 12, twist: 6, q: actuators, force: actuators, wrench: 6, error: 1 };
  const line = document.getElementById("run");
  let follows = true,
    painted = 0, // when, and how many samples the plots have
    drawn = 0,
    due = false,
    asked = 0; // commands to run or not that the server has not answered yet: what it says meanwhile is old
  Object.assign(motion, { simulated: true, time: [], pose: [], twist: [], q: [], force: [], wrench: [], error: [] });
  const say = text => {
    line.textContent = text;
  };
  function keep(row) {
    let at = 0;
    for (const [name, size] of Object.entries(columns)) {
      const part = row.slice(at, at + size);
      at += size;
      if (name === "pose") part.push(0, 0, 0, 1);
      motion[name].push(size === 1 ? part[0] : Float64Array.from(part));
    }
    recordForce(motion.force[motion.force.length - 1]);
  }
  function take({ run, rows, running, speed, ended }) {
    if (run !== stream.number) {
      stream.number = run;
      for (const name of Object.keys(columns)) motion[name].length = 0;
      dock.clear();
      forgetInstant();
      drawn = 0;
      follows = true;
    }
    rows.forEach(keep);
    stream.ended = ended;
    if (!asked || ended) stream.running = running && !ended;
    const now = performance.now(),
      count = motion.time.length;
    if (count > drawn && (now - painted > 100 || ended || !running)) {
      dock.grown(drawn);
      [drawn, painted] = [count, now];
    }
    if (rows.length && follows && !due) {
      due = true; // once a picture, however many messages come meanwhile
      requestAnimationFrame(() => {
        due = false;
        if (follows) app.setInstant(motion.time.length - 1);
      });
    }
    dock.label();
    const pace = speed === 1 ? "in real time" : `at ${speed} times real time`;
    say(ended || (running ? `Running ${pace}.` : "Paused. Drag the robot, or go back along the bar."));
  }
  stream.send = async command => {
    try {
      const answer = await fetch("command", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(command),
      });
      if (!answer.ok) say(await answer.text());
    } catch {
      if (stream.running) say("The connection to the simulation was lost.");
    }
  };
  const run = async running => {
    stream.running = follows = running;
    asked++;
    await stream.send({ running });
    asked--;
  };
  stream.hold = () => run(false);
  stream.go = () => run(true);
  stream.open = () => {
    const source = new EventSource("events");
    source.addEventListener("message", event => take(JSON.parse(event.data)));
    const gone = () => {
      source.close();
      if (!stream.ended) stream.ended = "The simulation was stopped.";
      stream.running = false;
      dock.label();
      say("The simulation was stopped; what was recorded can still be played.");
    };
    source.addEventListener("bye", gone);
    source.addEventListener("error", gone);
  };
  return stream;
}
