"""How long a step of the classical Runge-Kutta method may be: bounds of a rate [1/s] times the step [s].

An oscillation of rate w is off by (w h)^5/120 of its amplitude a step; a decay, such as dry friction's, need not be
followed but must not grow, which ends at 2.8: far enough below for loads that grow.
"""

PHASE, DECAY, STABLE = 0.4, 1.0, 2.7
