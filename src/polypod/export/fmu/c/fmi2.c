/* FMI 2.0, co-simulation and model exchange, over an instance. */
#include "instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FMI2_FUNCTION_PREFIX
#define PASTE(a, b) a##b
#define PREFIXED(a, b) PASTE(a, b)
#define FMI(name) PREFIXED(FMI2_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif
#if defined _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef unsigned int fmi2ValueReference;
typedef const char *fmi2String;
typedef void (*fmi2Logger)(void *, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
typedef struct {
    fmi2Logger logger;
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(void *, fmi2Status);
    void *environment;
} fmi2CallbackFunctions;
typedef struct {
    int newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    int valuesOfContinuousStatesChanged, nextEventTimeDefined;
    double nextEventTime;
} fmi2EventInfo;

typedef struct {
    Instance model;
    char name[200];
    fmi2Logger log;
    void *environment;
    double last;
} Component;

static fmi2Status said(Component *c, Outcome outcome)
{
    if (outcome == FINE)
        return fmi2OK;
    /* a solver of model exchange may try a shorter step */
    const fmi2Status status = outcome == NO_ANSWER && c->model.exchange ? fmi2Discard : fmi2Error;
    if (c->log)
        c->log(c->environment, c->name, status, "logStatusError", "%s", c->model.message);
    return status;
}

static fmi2Status none(void *instance, size_t count, const char *what)
{
    Component *c = instance;
    return count ? said(c, misuse(&c->model, "the model has no %s", what)) : fmi2OK;
}

EXPORT const char *FMI(fmi2GetTypesPlatform)(void) { return "default"; }
EXPORT const char *FMI(fmi2GetVersion)(void) { return "2.0"; }

EXPORT fmi2Status FMI(fmi2SetDebugLogging)(void *c, int on, size_t count, const fmi2String *categories)
{
    (void)c, (void)on, (void)count, (void)categories;
    return fmi2OK; /* errors are always logged, nothing else is */
}

EXPORT void *FMI(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                  const fmi2CallbackFunctions *functions, int visible, int logging)
{
    (void)resources, (void)visible, (void)logging;
    Component *c = strcmp(guid, TOKEN) == 0 ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        if (functions && functions->logger)
            functions->logger(functions->environment, name, fmi2Error, "logStatusError",
                              "no memory, or the GUID is not that of this FMU: %s", guid);
        return NULL;
    }
    instance_reset(&c->model, type == fmi2ModelExchange);
    snprintf(c->name, sizeof c->name, "%s", name);
    c->log = functions ? functions->logger : NULL;
    c->environment = functions ? functions->environment : NULL;
    return c;
}

EXPORT void FMI(fmi2FreeInstance)(void *c) { free(c); }

EXPORT fmi2Status FMI(fmi2SetupExperiment)(void *instance, int toleranceDefined, double tolerance, double start,
                                           int stopDefined, double stop)
{
    (void)toleranceDefined, (void)tolerance, (void)stopDefined, (void)stop;
    Component *c = instance;
    c->model.values[0] = c->last = start;
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2EnterInitializationMode)(void *instance)
{
    Component *c = instance;
    if (c->model.phase != MADE)
        return said(c, misuse(&c->model, "the instance is initialised already; reset it first"));
    c->model.phase = INITIALISING;
    c->model.stale = 1;
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2ExitInitializationMode)(void *instance)
{
    Component *c = instance;
    /* no step can be shortened yet */
    const Outcome outcome = instance_initialised(&c->model);
    return said(c, outcome == NO_ANSWER ? MISUSE : outcome);
}

EXPORT fmi2Status FMI(fmi2Terminate)(void *instance)
{
    ((Component *)instance)->model.phase = TERMINATED;
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2Reset)(void *instance)
{
    Component *c = instance;
    instance_reset(&c->model, c->model.exchange);
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2GetReal)(void *instance, const fmi2ValueReference *vr, size_t count, double *values)
{
    Component *c = instance;
    return said(c, instance_get(&c->model, vr, count, values));
}

EXPORT fmi2Status FMI(fmi2SetReal)(void *instance, const fmi2ValueReference *vr, size_t count, const double *values)
{
    Component *c = instance;
    return said(c, instance_set(&c->model, vr, count, values));
}

#define ONLY_REALS(Name, type) \
    EXPORT fmi2Status FMI(fmi2Get##Name)(void *c, const fmi2ValueReference *vr, size_t count, type *values) \
    { \
        (void)vr, (void)values; \
        return none(c, count, #Name " variables"); \
    } \
    EXPORT fmi2Status FMI(fmi2Set##Name)(void *c, const fmi2ValueReference *vr, size_t count, const type *values) \
    { \
        (void)vr, (void)values; \
        return none(c, count, #Name " variables"); \
    }
ONLY_REALS(Integer, int)
ONLY_REALS(Boolean, int)
ONLY_REALS(String, fmi2String)

EXPORT fmi2Status FMI(fmi2GetFMUstate)(void *instance, void **state)
{
    Component *c = instance;
    if (!*state)
        *state = malloc(sizeof c->model);
    if (!*state)
        return said(c, misuse(&c->model, "no memory for a copy of the state"));
    memcpy(*state, &c->model, sizeof c->model);
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2SetFMUstate)(void *instance, void *state)
{
    Component *c = instance;
    return said(c, instance_restore(&c->model, state));
}

EXPORT fmi2Status FMI(fmi2FreeFMUstate)(void *instance, void **state)
{
    (void)instance;
    free(*state);
    *state = NULL;
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2SerializedFMUstateSize)(void *instance, void *state, size_t *size)
{
    (void)instance, (void)state;
    *size = sizeof(Instance);
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2SerializeFMUstate)(void *instance, void *state, char *bytes, size_t size)
{
    Component *c = instance;
    if (size < sizeof(Instance))
        return said(c, misuse(&c->model, "a state takes %d bytes, got %d", (int)sizeof(Instance), (int)size));
    memcpy(bytes, state, sizeof(Instance));
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2DeSerializeFMUstate)(void *instance, const char *bytes, size_t size, void **state)
{
    Component *c = instance;
    if (size != sizeof(Instance))
        return said(c, misuse(&c->model, "a state takes %d bytes, got %d", (int)sizeof(Instance), (int)size));
    if (!*state)
        *state = malloc(size);
    if (!*state)
        return said(c, misuse(&c->model, "no memory for a copy of the state"));
    memcpy(*state, bytes, size);
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2GetDirectionalDerivative)(void *instance, const fmi2ValueReference *unknown, size_t unknowns,
                                                    const fmi2ValueReference *known, size_t knowns,
                                                    const double *seed, double *result)
{
    Component *c = instance;
    return said(c, instance_directional(&c->model, unknown, unknowns, known, knowns, seed, result));
}

/* Model exchange */
EXPORT fmi2Status FMI(fmi2EnterEventMode)(void *c) { return none(c, 0, ""); }
EXPORT fmi2Status FMI(fmi2EnterContinuousTimeMode)(void *c) { return none(c, 0, ""); }

EXPORT fmi2Status FMI(fmi2NewDiscreteStates)(void *c, fmi2EventInfo *info)
{
    (void)c;
    memset(info, 0, sizeof *info);
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2CompletedIntegratorStep)(void *c, int final, int *event, int *terminate)
{
    (void)c, (void)final;
    *event = *terminate = 0;
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2SetTime)(void *instance, double time)
{
    ((Component *)instance)->model.values[0] = time;
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2SetContinuousStates)(void *instance, const double *states, size_t count)
{
    Component *c = instance;
    return said(c, instance_set_states(&c->model, states, count));
}

EXPORT fmi2Status FMI(fmi2GetDerivatives)(void *instance, double *derivatives, size_t count)
{
    Component *c = instance;
    return said(c, instance_derivatives(&c->model, derivatives, count));
}

EXPORT fmi2Status FMI(fmi2GetEventIndicators)(void *c, double *indicators, size_t count)
{
    (void)indicators;
    return none(c, count, "event indicators");
}

EXPORT fmi2Status FMI(fmi2GetContinuousStates)(void *instance, double *states, size_t count)
{
    Component *c = instance;
    if (count != STATES)
        return none(c, 1, "such number of states");
    if (count)
        memcpy(states, c->model.values + FIRST_STATE, count * sizeof *states);
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2GetNominalsOfContinuousStates)(void *c, double *nominals, size_t count)
{
    (void)c;
    for (size_t k = 0; k < count; k++)
        nominals[k] = 1.0;
    return fmi2OK;
}

/* Co-simulation */
EXPORT fmi2Status FMI(fmi2DoStep)(void *instance, double time, double step, int final)
{
    (void)final;
    Component *c = instance;
    const Outcome outcome = instance_step(&c->model, time, step);
    if (outcome == FINE)
        c->last = time + step;
    return said(c, outcome);
}

EXPORT fmi2Status FMI(fmi2SetRealInputDerivatives)(void *c, const fmi2ValueReference *vr, size_t count,
                                                   const int *order, const double *values)
{
    (void)vr, (void)order, (void)values;
    return none(c, count, "derivatives of inputs");
}

EXPORT fmi2Status FMI(fmi2GetRealOutputDerivatives)(void *c, const fmi2ValueReference *vr, size_t count,
                                                    const int *order, double *values)
{
    (void)vr, (void)order, (void)values;
    return none(c, count, "derivatives of outputs");
}

EXPORT fmi2Status FMI(fmi2CancelStep)(void *c) { return none(c, 1, "steps that run by themselves"); }

EXPORT fmi2Status FMI(fmi2GetRealStatus)(void *instance, int kind, double *value)
{
    if (kind != 2)
        return none(instance, 1, "such status");
    *value = ((Component *)instance)->last; /* the last time that was reached */
    return fmi2OK;
}

EXPORT fmi2Status FMI(fmi2GetStatus)(void *c, int kind, fmi2Status *value)
{
    (void)kind, (void)value;
    return none(c, 1, "steps that run by themselves");
}

EXPORT fmi2Status FMI(fmi2GetIntegerStatus)(void *c, int kind, int *value)
{
    (void)kind, (void)value;
    return none(c, 1, "such status");
}

EXPORT fmi2Status FMI(fmi2GetBooleanStatus)(void *c, int kind, int *value)
{
    (void)kind;
    *value = 0; /* nothing ends the simulation by itself */
    return none(c, 0, "");
}

EXPORT fmi2Status FMI(fmi2GetStringStatus)(void *c, int kind, fmi2String *value)
{
    (void)kind, (void)value;
    return none(c, 1, "such status");
}
