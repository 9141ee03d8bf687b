"""A machine whose platform is heavier than its file says: excite, log, identify, judge on a log held back.

python examples/identify.py [robot]
"""

import sys

import numpy as np

import polypod as pp
from polypod.identification import excite, identify, simulated_log

name = sys.argv[1] if len(sys.argv) > 1 else "five-bar"
file = pp.load(name)
load = file.platform
heavier = load.model_copy(
    update={"mass": 1.3 * load.mass, "inertia": tuple(tuple(1.3 * x for x in row) for row in load.inertia)}
)
model, machine = pp.Model(file), pp.Model(file.model_copy(update={"platform": heavier}))

motion = excite(model, duration=1.0, harmonics=4, reach=1.0, noise=0.002, tries=200)
print(
    f"{motion.base.count} base parameters of {len(motion.base.numbers)} numbers; {len(motion.invisible)} stay invisible"
)
logs = [
    simulated_log(machine, motion.motion, rate=500, repeats=4, noise_q=1e-7, noise_force=0.002, seed=k, name=f"run{k}")
    for k in range(2)
]
found = identify(model, logs[0], validate=logs[1])
judged = found.validation[0]
for text in found.notes:
    print("note:", text)
print("held-out error before", judged.error(judged.before).round(5), "after", judged.error(judged.after).round(5))
truth = found.base.values(type(found.linear)(machine).values)
held = np.abs(found.beta - truth) <= found.half_widths
print(f"{held.sum()} of {len(held)} intervals hold the truth")
assert (judged.error(judged.after) < judged.error(judged.before)).all()
