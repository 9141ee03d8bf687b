"""A simulation under way in a real browser: watched, paused, pushed, compared with the same simulation in Python."""

from __future__ import annotations

import http.client
import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from threading import Event

import numpy as np
import pytest
import typer
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.cli.view import view
from polypod.errors import InputError
from polypod.simulation import Sample, simulate_tracking
from polypod.viewer.stream import MOST_ROWS, Restart, RunState, Stream, serving
from support.browser import PATIENCE, Browser, needs_browser
from support.refusals import refused

SAME = 1e-9  # numbers go over as text that reads back as the same numbers; the page computes the rest
ROBOT, RATE = "hexapod", 200.0
SLOW = 0.02  # times real time: a run of 30 s, which a busy machine does not miss
HOP = """\
name: hop
trajectory:
  kind: poses
  relative_to: home
  poses:
    - {time: 0.0, position: [0, 0, 0]}
    - {time: 0.6, position: [0.02, 0, 0.01], angles: [0, 3 deg, 0]}
"""


def ask(port: int, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path, body, {name: value for name, value in headers.items() if value})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


@needs_browser
def test_a_simulation_is_watched_paused_pushed_and_stopped(browser, tmp_path, capsys, monkeypatch):
    """The command in this thread, as Ctrl-C needs it, and a browser in another, which ends it whatever happens."""
    motion = tmp_path / "hop.yaml"
    motion.write_text(HOP, encoding="utf-8")
    truth = simulate_tracking(pp.Model(ROBOT), motion, rate=RATE)
    addresses: Queue[str] = Queue()
    monkeypatch.setattr("polypod.cli.view._started", addresses.put)
    over = Event()

    def interrupt() -> None:
        """Ctrl-C, as the terminal sends it, once; none for a command that has ended by itself."""
        if not over.is_set():
            over.set()
            os.kill(os.getpid(), signal.SIGINT)

    def watch() -> None:
        try:
            _watch(browser, addresses.get(timeout=PATIENCE), truth, interrupt)
        finally:
            interrupt()

    with ThreadPoolExecutor(1) as pool:
        watched = pool.submit(watch)
        try:
            view(ROBOT, str(motion), live=True, rate=RATE, speed=SLOW, saturation="drives")  # which give enough
        finally:
            over.set()
        watched.result(PATIENCE)
    assert capsys.readouterr().out.strip() == "Stopped."


def _watch(browser: Browser, address: str, truth, interrupt) -> None:
    def until(script: str) -> None:
        browser.wait_for(lambda: browser.ask(script))

    browser.open(address, graphics=False)  # drawn in lines, which costs less
    until("Boolean(window.polypod)")
    until("polypod.motion.time.length > 3")
    # pause: time stands still, and no sample is lost
    browser.ask("document.querySelector('#play button').click()")
    assert browser.ask("document.querySelector('#play button').textContent") == "Resume"
    until("document.getElementById('run').textContent.startsWith('Paused')")
    before = browser.ask("polypod.motion.time.length")
    time.sleep(0.1)
    assert browser.ask("polypod.motion.time.length") <= before + 1  # the step that was under way
    # what stands in the picture is a state of the simulation: its forces, and what the model says of its pose
    state = json.loads(
        browser.ask("""JSON.stringify((s => ({pose: [...s.pose], q: [...s.q], force: [...s.force],
        condition: s.condition}))(polypod.state))""")
    )
    pose = np.reshape(state["pose"], (4, 4))
    row = int(np.abs(truth["pose"].values - pose).max(axis=(1, 2)).argmin())
    assert np.abs(truth["pose"].values[row] - pose).max() <= SAME
    assert np.abs(truth["force"].values[row] - state["force"]).max() <= SAME * np.abs(truth["force"]).max()
    model = pp.Model(ROBOT)
    assert np.abs(model.inverse_kinematics(pose) - state["q"]).max() <= SAME
    assert state["condition"] == pytest.approx(float(model.conditioning(pose).condition), rel=SAME)
    # on at another speed, to the end
    browser.ask("""(s => { s.value = 5; s.dispatchEvent(new Event("change")); })(
        document.querySelector("#play select"));
        document.querySelector("#play button").click()""")
    until("Boolean(polypod.stream.ended)")
    assert browser.ask("polypod.stream.ended") == "Ended: duration reached."
    rows = json.loads(
        browser.ask("""JSON.stringify((m => ({time: m.time, force: m.force.map(r => [...r]),
        q: m.q.map(r => [...r]), pose: m.pose.map(r => [...r]), error: m.error}))(polypod.motion))""")
    )
    assert np.abs(np.array(rows["time"]) - truth.time.values).max() < 1e-12
    for name in ("force", "q"):
        assert np.abs(np.array(rows[name]) - truth[name].values).max() <= SAME * np.abs(truth[name].values).max()
    assert np.abs(np.reshape(rows["pose"], (-1, 4, 4)) - truth["pose"].values).max() <= SAME
    assert np.abs(rows["error"] - np.linalg.norm(truth["error"].values[:, :3], axis=1)).max() <= SAME
    assert "NaN" not in browser.ask("document.body.innerText")
    # again from the start, pushed by the page
    port = int(address.rsplit(":", 1)[1].strip("/"))
    assert ask(port, "POST", "/command", f'{{"speed": {SLOW}}}', Origin=address.strip("/"))[0] < 300
    browser.ask("polypod.setLoad(2, -200)")
    browser.ask("polypod.setInstant(-1)")  # the last sample of a run that has none yet: nothing to show
    # no picture is drawn meanwhile, as on a busy computer: what is shown is still the run before, which is no more
    browser.ask("""window.pictures = []; window.drawn = requestAnimationFrame;
        window.requestAnimationFrame = draw => pictures.push(draw); 0""")
    browser.ask("document.querySelectorAll('#play button')[1].click()")
    until("polypod.stream.number === 2 && polypod.motion.time.length > 3")
    browser.ask("polypod.setLoad(2, -300)")
    browser.ask("window.requestAnimationFrame = drawn; pictures.forEach(draw => draw()); 0")
    until("polypod.motion.wrench.at(-1)[2] === -300")
    assert ask(port, "POST", "/command", '{"speed": 5}', Origin=address.strip("/"))[0] < 300
    until("Boolean(polypod.stream.ended)")
    assert browser.ask("polypod.motion.error.at(-1)") > 10 * float(np.linalg.norm(truth["error"].values[-1, :3]))
    assert [url for url in browser.requests if not url.startswith(address)] == []
    # Ctrl-C ends it, and the page says so
    interrupt()
    until("document.getElementById('run').textContent.includes('was stopped')")
    assert browser.complaints == []


@pytest.fixture(scope="module")
def alone():
    """A server without a simulation."""
    stream = Stream(1.0, 100.0, lambda times: np.zeros((len(times), 3)))
    with serving("<p>page</p>", stream) as address:
        yield stream, int(address.rsplit(":", 1)[1].strip("/"))


def test_other_hosts_and_other_sites_are_refused(alone):
    """A name that is made to lead to 127.0.0.1 brings its own Host; a form of another site its own Origin."""
    _, port = alone
    own = f"http://127.0.0.1:{port}"
    assert ask(port, "GET", "/") == (200, "<p>page</p>")
    assert ask(port, "GET", "/", Host=f"localhost:{port}")[0] == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}"):
        assert ask(port, "GET", "/", Host=host) == (403, f"This page is at {own}/ only.")
        assert ask(port, "GET", "/events", Host=host)[0] == 403
        assert ask(port, "POST", "/command", "{}", Host=host, Origin=own)[0] == 403
    for origin in ("", "null", "http://evil.example", f"https://127.0.0.1:{port}"):
        assert ask(port, "POST", "/command", '{"running": false}', Origin=origin)[0] == 403
    assert ask(port, "GET", "/etc/passwd")[0] == 404
    with pytest.raises(OSError):  # not even another address of this machine
        http.client.HTTPConnection("127.0.0.2", port, timeout=2).request("GET", "/")


@pytest.mark.parametrize(
    "posted",
    ["", "[]", "{}", "no json", '{"fly": 1}', '{"speed": 0}', '{"speed": "x"}', '{"push": [1, 2]}', '{"push": "x"}',
     '{"push": [1, 2, 3, 4, 5, NaN]}', " " * 5000, '{"speed": true}'],
)  # fmt: skip
def test_requests_that_make_no_sense_are_refused(posted, alone):
    _, port = alone
    status, text = ask(port, "POST", "/command", posted, Origin=f"http://127.0.0.1:{port}")
    assert status == 400
    assert text


def test_a_port_that_is_taken_is_reported(alone):
    stream, port = alone
    with refused(InputError, f"port {port}"), serving("", stream, port):
        pass
    with refused(InputError, "port 70000"), serving("", stream, 70000):
        pass


def sample(time: float) -> Sample:
    from polypod.control import Measurement

    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec([0, 0, time]).as_matrix()
    pose[0, 3] = time
    six = np.arange(6.0)
    return Sample(time, Measurement(six, six, pose, six, np.zeros(0), np.zeros(0)), six, six, six)


def test_long_runs_are_thinned_out_and_keep_their_end():
    stream = Stream(100.0, 1000.0, lambda times: np.column_stack([times, 0 * times, 0 * times]))
    stream.command({"speed": 1000})
    stream.begin(None)
    stream.next_message(RunState(), 0.0)  # a page listens
    count = 1000
    for k in range(count):
        stream.observe(sample(k / 1000))
    stream.end("Ended.")
    known, text = stream.next_message(RunState(), 0.0)
    found = json.loads(text)
    times = [row[0] for row in found["rows"]]
    every = int(np.ceil(100.0 * 1000.0 / MOST_ROWS))
    assert times == [*(k / 1000 for k in range(0, count, every)), (count - 1) / 1000]
    assert max(row[-1] for row in found["rows"]) < 1e-12  # the distance from a reference that it follows
    assert found["ended"] == "Ended."
    assert known.rows == len(times)
    stream.command({"again": True})
    with pytest.raises(Restart):
        stream.observe(sample(1.0))


def test_options_of_a_simulation_need_live(capsys):
    for options in ({"port": 80}, {"speed": 2.0}, {"controller": "pd"}, {"mass": 1.1}, {"saturation": "2 kN"}):
        with pytest.raises(typer.Exit) as ended:
            view(ROBOT, **options)
        assert ended.value.exit_code == 2
        assert "requires --live" in capsys.readouterr().err
