/* What all models have in common: variables by reference, checked; phases; rotations. */
#include "instance.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

Outcome misuse(Instance *m, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->message, sizeof m->message, format, arguments);
    va_end(arguments);
    return MISUSE;
}

void instance_reset(Instance *m, int exchange)
{
    memset(m, 0, sizeof *m);
    snprintf(m->token, sizeof m->token, "%s", TOKEN);
    m->exchange = exchange;
    for (size_t k = 0; k < VARIABLES; k++)
        m->values[k] = variables[k].start;
}

static Outcome refreshed(Instance *m)
{
    if (!m->stale || m->phase == MADE)
        return FINE;
    if (m->phase == INITIALISING) {
        const Outcome started = model_start(m);
        if (started != FINE)
            return started;
    }
    const Outcome outcome = model_evaluate(m);
    if (outcome == FINE)
        m->stale = 0;
    return outcome;
}

Outcome instance_get(Instance *m, const unsigned int *references, size_t count, double *values)
{
    int computed = 0;
    for (size_t k = 0; k < count; k++) {
        if (references[k] >= VARIABLES)
            return misuse(m, "there is no variable with value reference %u", references[k]);
        const Role role = variables[references[k]].role;
        computed = computed || role == OUTPUT || role == DERIVATIVE || (role == STATE && m->phase == INITIALISING);
    }
    if (computed) {
        const Outcome outcome = refreshed(m);
        if (outcome != FINE)
            return outcome;
    }
    for (size_t k = 0; k < count; k++)
        values[k] = m->values[references[k]];
    return FINE;
}

Outcome instance_set(Instance *m, const unsigned int *references, size_t count, const double *values)
{
    for (size_t k = 0; k < count; k++) {
        if (references[k] >= VARIABLES)
            return misuse(m, "there is no variable with value reference %u", references[k]);
        const Variable *variable = &variables[references[k]];
        if (variable->role != INPUT && variable->role != PARAMETER)
            return misuse(m, "%s is computed and cannot be set", variable->name);
        if (variable->role == PARAMETER && m->phase > INITIALISING)
            return misuse(m, "%s is a parameter: set it before the initialization ends", variable->name);
        if (!isfinite(values[k]))
            return misuse(m, "%s: a finite number is needed, got %g", variable->name, values[k]);
        if (values[k] < variable->minimum)
            return misuse(m, "%s: at least %g is needed, got %g", variable->name, variable->minimum, values[k]);
    }
    for (size_t k = 0; k < count; k++)
        m->values[references[k]] = values[k];
    m->stale = 1;
    return FINE;
}

Outcome instance_initialised(Instance *m)
{
    if (m->phase != INITIALISING)
        return misuse(m, "the initialization mode was not entered");
    const Outcome outcome = model_start(m);
    if (outcome == FINE) {
        m->phase = RUNNING;
        m->stale = 1;
    }
    return outcome;
}

Outcome instance_step(Instance *m, double time, double step)
{
    if (m->phase != RUNNING || m->exchange)
        return misuse(m, "a step needs an initialised instance for co-simulation");
    if (!isfinite(time) || !isfinite(step) || step < 0.0)
        return misuse(m, "finite times and a step of at least 0 s are needed, got %g and %g", time, step);
    m->values[0] = time;
    const Outcome outcome = model_step(m, step);
    if (outcome == FINE) {
        m->values[0] = time + step;
        m->stale = 0;
    }
    return outcome;
}

Outcome instance_set_states(Instance *m, const double *states, size_t count)
{
    if (count != STATES)
        return misuse(m, "the model has %d states, got %d", (int)STATES, (int)count);
    for (size_t k = 0; k < count; k++)
        if (!isfinite(states[k]))
            return misuse(m, "state %d: a finite number is needed, got %g", (int)k, states[k]);
    if (count)
        memcpy(m->values + FIRST_STATE, states, count * sizeof *states);
    m->stale = 1;
    return FINE;
}

Outcome instance_derivatives(Instance *m, double *derivatives, size_t count)
{
    if (count != STATES)
        return misuse(m, "the model has %d states, got %d", (int)STATES, (int)count);
    const Outcome outcome = refreshed(m);
    if (outcome == FINE && count)
        memcpy(derivatives, m->values + FIRST_DERIVATIVE, count * sizeof *derivatives);
    return outcome;
}

/* The change of unknowns along a seed of knowns: central differences of fourth order, the instance stays as it is. */
Outcome instance_directional(Instance *m, const unsigned int *unknowns, size_t count, const unsigned int *knowns,
                             size_t given, const double *seed, double *result)
{
    static const double offsets[4] = {-2.0, -1.0, 1.0, 2.0}, weights[4] = {1.0, -8.0, 8.0, -1.0};
    double largest = 0.0;
    for (size_t k = 0; k < given; k++) {
        if (knowns[k] >= VARIABLES)
            return misuse(m, "there is no variable with value reference %u", knowns[k]);
        const Role role = variables[knowns[k]].role;
        if (role != INPUT && role != PARAMETER && role != STATE)
            return misuse(m, "%s is computed: derivatives are by inputs, parameters and states", variables[knowns[k]].name);
        if (!isfinite(seed[k]))
            return misuse(m, "%s: a finite seed is needed, got %g", variables[knowns[k]].name, seed[k]);
        largest = fmax(largest, fabs(seed[k]) / fmax(1.0, fabs(m->values[knowns[k]])));
    }
    for (size_t k = 0; k < count; k++) {
        if (unknowns[k] >= VARIABLES)
            return misuse(m, "there is no variable with value reference %u", unknowns[k]);
        result[k] = 0.0;
    }
    if (largest == 0.0)
        return FINE;
    const double length = 2e-4 / largest;
    const Instance stored = *m;
    Outcome outcome = FINE;
    for (int point = 0; point < 4 && outcome == FINE; point++) {
        for (size_t k = 0; k < given; k++)
            m->values[knowns[k]] = stored.values[knowns[k]] + offsets[point] * length * seed[k];
        m->stale = 1;
        outcome = refreshed(m);
        for (size_t k = 0; k < count; k++)
            result[k] += weights[point] * m->values[unknowns[k]] / (12.0 * length);
        if (outcome == FINE)
            *m = stored;
    }
    char message[sizeof m->message];
    memcpy(message, m->message, sizeof message);
    *m = stored;
    memcpy(m->message, message, sizeof message);
    return outcome;
}

/* The products of a seed of unknowns with the derivatives by each of the knowns. */
Outcome instance_adjoint(Instance *m, const unsigned int *unknowns, size_t count, const unsigned int *knowns,
                         size_t given, const double *seed, double *result)
{
    const double one = 1.0;
    double column[VARIABLES];
    if (count > VARIABLES)
        return misuse(m, "the model has %d variables, got %d unknowns", (int)VARIABLES, (int)count);
    for (size_t k = 0; k < given; k++) {
        const Outcome outcome = instance_directional(m, unknowns, count, &knowns[k], 1, &one, column);
        if (outcome != FINE)
            return outcome;
        result[k] = 0.0;
        for (size_t i = 0; i < count; i++)
            result[k] += seed[i] * column[i];
    }
    return FINE;
}

Outcome instance_restore(Instance *m, const Instance *stored)
{
    if (memcmp(stored->token, m->token, sizeof m->token) != 0)
        return misuse(m, "the stored state is that of another model");
    if (stored->exchange != m->exchange)
        return misuse(m, "the stored state is that of the other kind of simulation");
    *m = *stored;
    return FINE;
}

Outcome pose_of(Instance *m, const char *what, const double *position, const double *orientation, double *pose)
{
    const double x = orientation[0], y = orientation[1], z = orientation[2], w = orientation[3];
    const double square = x * x + y * y + z * z + w * w;
    if (!(fabs(square - 1.0) < 2e-3))
        return misuse(m, "%s: a quaternion of length 1 is needed, got one of length %g", what, sqrt(square));
    const double s = 2.0 / square;
    const double rows[16] = {
        1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w), position[0],
        s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w), position[1],
        s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y), position[2],
        0.0, 0.0, 0.0, 1.0,
    };
    memcpy(pose, rows, sizeof rows);
    return FINE;
}

/* The quaternion of a pose, of the sign that is nearer to the last one: no jumps along a motion. */
void orientation_of(const double *pose, double *orientation)
{
    const double a = pose[0], b = pose[5], c = pose[10];
    double q[4];
    if (a + b + c > 0.0) {
        const double w = 0.5 * sqrt(1.0 + a + b + c), s = 0.25 / w;
        q[0] = s * (pose[9] - pose[6]), q[1] = s * (pose[2] - pose[8]), q[2] = s * (pose[4] - pose[1]), q[3] = w;
    } else {
        const int i = a >= b && a >= c ? 0 : b >= c ? 1 : 2, j = (i + 1) % 3, k = (i + 2) % 3;
        const double v = 0.5 * sqrt(1.0 + pose[5 * i] - pose[5 * j] - pose[5 * k]), s = 0.25 / v;
        q[i] = v;
        q[j] = s * (pose[4 * j + i] + pose[4 * i + j]);
        q[k] = s * (pose[4 * k + i] + pose[4 * i + k]);
        q[3] = s * (pose[4 * k + j] - pose[4 * j + k]);
    }
    double along = 0.0;
    for (int n = 0; n < 4; n++)
        along += q[n] * orientation[n];
    for (int n = 0; n < 4; n++)
        orientation[n] = along < 0.0 ? -q[n] : q[n];
}
