/* An instance of the model: plain numbers, so that its state is copied and stored as it is. */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stddef.h>

#include "model.h" /* VARIABLES, STATES, FIRST_STATE, FIRST_DERIVATIVE, MEMORY, TOKEN */

typedef enum { TIME, INPUT, PARAMETER, STATE, OUTPUT, DERIVATIVE } Role;
typedef enum { MADE, INITIALISING, RUNNING, TERMINATED } Phase;
/* What a function of an instance returns; unless it is FINE the instance has a message. */
typedef enum { FINE, NO_ANSWER, MISUSE } Outcome;

typedef struct {
    const char *name;
    Role role;
    double start;
    double minimum;
} Variable;

typedef struct {
    char token[48];
    char message[512];
    Phase phase;
    int exchange; /* model exchange: states and derivatives; otherwise co-simulation */
    int stale;    /* outputs are older than what they depend on */
    double values[VARIABLES]; /* by value reference; the first is the time [s] */
    double memory[MEMORY];    /* what the model keeps between steps */
} Instance;

/* of the model, generated */
extern const Variable variables[VARIABLES];
Outcome model_start(Instance *m);           /* from the start values of the parameters */
Outcome model_evaluate(Instance *m);        /* outputs, and derivatives in model exchange */
Outcome model_step(Instance *m, double step); /* on by a time [s] at constant inputs */

/* of every model */
void instance_reset(Instance *m, int exchange);
Outcome instance_get(Instance *m, const unsigned int *references, size_t count, double *values);
Outcome instance_set(Instance *m, const unsigned int *references, size_t count, const double *values);
Outcome instance_initialised(Instance *m);
Outcome instance_step(Instance *m, double time, double step);
Outcome instance_set_states(Instance *m, const double *states, size_t count);
Outcome instance_derivatives(Instance *m, double *derivatives, size_t count);
Outcome instance_directional(Instance *m, const unsigned int *unknowns, size_t count, const unsigned int *knowns,
                             size_t given, const double *seed, double *result);
Outcome instance_adjoint(Instance *m, const unsigned int *unknowns, size_t count, const unsigned int *knowns,
                         size_t given, const double *seed, double *result);
Outcome instance_restore(Instance *m, const Instance *stored);
Outcome misuse(Instance *m, const char *format, ...);

/* rotations: quaternions are x y z w, poses 4x4 by rows */
Outcome pose_of(Instance *m, const char *what, const double *position, const double *orientation, double *pose);
void orientation_of(const double *pose, double *orientation);

#endif
