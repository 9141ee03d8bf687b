/* FMI 3.0, co-simulation and model exchange, over an instance. */
#include "instance.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FMI3_FUNCTION_PREFIX
#define PASTE(a, b) a##b
#define PREFIXED(a, b) PASTE(a, b)
#define FMI(name) PREFIXED(FMI3_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif
#if defined _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef uint32_t Reference;
typedef const char *Text;
typedef const uint8_t *Binary;
typedef void (*Logger)(void *, fmi3Status, Text, Text);

typedef struct {
    Instance model;
    Logger log;
    void *environment;
} Component;

static fmi3Status said(Component *c, Outcome outcome)
{
    if (outcome == FINE)
        return fmi3OK;
    /* a solver of model exchange may try a shorter step */
    const fmi3Status status = outcome == NO_ANSWER && c->model.exchange ? fmi3Discard : fmi3Error;
    if (c->log)
        c->log(c->environment, status, "logStatusError", c->model.message);
    return status;
}

static fmi3Status none(void *instance, size_t count, const char *what)
{
    Component *c = instance;
    return count ? said(c, misuse(&c->model, "the model has no %s", what)) : fmi3OK;
}

EXPORT const char *FMI(fmi3GetVersion)(void) { return "3.0"; }

EXPORT fmi3Status FMI(fmi3SetDebugLogging)(void *c, bool on, size_t count, const Text *categories)
{
    (void)c, (void)on, (void)count, (void)categories;
    return fmi3OK; /* errors are always logged, nothing else is */
}

static void *instantiated(Text token, void *environment, Logger log, int exchange)
{
    Component *c = strcmp(token, TOKEN) == 0 ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        if (log)
            log(environment, fmi3Error, "logStatusError", "no memory, or the token is not that of this FMU");
        return NULL;
    }
    instance_reset(&c->model, exchange);
    c->log = log;
    c->environment = environment;
    return c;
}

EXPORT void *FMI(fmi3InstantiateModelExchange)(Text name, Text token, Text resources, bool visible, bool logging,
                                               void *environment, Logger log)
{
    (void)name, (void)resources, (void)visible, (void)logging;
    return instantiated(token, environment, log, 1);
}

EXPORT void *FMI(fmi3InstantiateCoSimulation)(Text name, Text token, Text resources, bool visible, bool logging,
                                              bool events, bool early, const Reference *required, size_t count,
                                              void *environment, Logger log, void (*update)(void))
{
    (void)name, (void)resources, (void)visible, (void)logging;
    (void)events, (void)early, (void)required, (void)count, (void)update;
    return instantiated(token, environment, log, 0);
}

EXPORT void *FMI(fmi3InstantiateScheduledExecution)(Text name, Text token, Text resources, bool visible,
                                                    bool logging, void *environment, Logger log,
                                                    void (*clock)(void), void (*lock)(void), void (*unlock)(void))
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)clock, (void)lock, (void)unlock;
    if (log)
        log(environment, fmi3Error, "logStatusError", "scheduled execution: the model has no partitions");
    return NULL;
}

EXPORT void FMI(fmi3FreeInstance)(void *c) { free(c); }

EXPORT fmi3Status FMI(fmi3EnterInitializationMode)(void *instance, bool toleranceDefined, double tolerance,
                                                   double start, bool stopDefined, double stop)
{
    (void)toleranceDefined, (void)tolerance, (void)stopDefined, (void)stop;
    Component *c = instance;
    if (c->model.phase != MADE)
        return said(c, misuse(&c->model, "the instance is initialised already; reset it first"));
    c->model.values[0] = start;
    c->model.phase = INITIALISING;
    c->model.stale = 1;
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3ExitInitializationMode)(void *instance)
{
    Component *c = instance;
    /* no step can be shortened yet */
    const Outcome outcome = instance_initialised(&c->model);
    return said(c, outcome == NO_ANSWER ? MISUSE : outcome);
}

EXPORT fmi3Status FMI(fmi3Terminate)(void *instance)
{
    ((Component *)instance)->model.phase = TERMINATED;
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3Reset)(void *instance)
{
    Component *c = instance;
    instance_reset(&c->model, c->model.exchange);
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3GetFloat64)(void *instance, const Reference *vr, size_t count, double *values, size_t length)
{
    Component *c = instance;
    if (length != count)
        return none(c, 1, "arrays: as many values as references are needed");
    return said(c, instance_get(&c->model, vr, count, values));
}

EXPORT fmi3Status FMI(fmi3SetFloat64)(void *instance, const Reference *vr, size_t count, const double *values,
                                      size_t length)
{
    Component *c = instance;
    if (length != count)
        return none(c, 1, "arrays: as many values as references are needed");
    return said(c, instance_set(&c->model, vr, count, values));
}

#define ONLY_FLOAT64(Name, type) \
    EXPORT fmi3Status FMI(fmi3Get##Name)(void *c, const Reference *vr, size_t count, type *values, size_t length) \
    { \
        (void)vr, (void)values, (void)length; \
        return none(c, count, #Name " variables"); \
    } \
    EXPORT fmi3Status FMI(fmi3Set##Name)(void *c, const Reference *vr, size_t count, const type *values, size_t length) \
    { \
        (void)vr, (void)values, (void)length; \
        return none(c, count, #Name " variables"); \
    }
ONLY_FLOAT64(Float32, float)
ONLY_FLOAT64(Int8, int8_t)
ONLY_FLOAT64(UInt8, uint8_t)
ONLY_FLOAT64(Int16, int16_t)
ONLY_FLOAT64(UInt16, uint16_t)
ONLY_FLOAT64(Int32, int32_t)
ONLY_FLOAT64(UInt32, uint32_t)
ONLY_FLOAT64(Int64, int64_t)
ONLY_FLOAT64(UInt64, uint64_t)
ONLY_FLOAT64(Boolean, bool)
ONLY_FLOAT64(String, Text)

EXPORT fmi3Status FMI(fmi3GetBinary)(void *c, const Reference *vr, size_t count, size_t *sizes, Binary *values,
                                     size_t length)
{
    (void)vr, (void)sizes, (void)values, (void)length;
    return none(c, count, "Binary variables");
}

EXPORT fmi3Status FMI(fmi3SetBinary)(void *c, const Reference *vr, size_t count, const size_t *sizes,
                                     const Binary *values, size_t length)
{
    (void)vr, (void)sizes, (void)values, (void)length;
    return none(c, count, "Binary variables");
}

EXPORT fmi3Status FMI(fmi3GetClock)(void *c, const Reference *vr, size_t count, bool *values)
{
    (void)vr, (void)values;
    return none(c, count, "clocks");
}

EXPORT fmi3Status FMI(fmi3SetClock)(void *c, const Reference *vr, size_t count, const bool *values)
{
    (void)vr, (void)values;
    return none(c, count, "clocks");
}

EXPORT fmi3Status FMI(fmi3GetNumberOfVariableDependencies)(void *c, Reference vr, size_t *count)
{
    (void)vr, (void)count;
    return none(c, 1, "list of dependencies");
}

EXPORT fmi3Status FMI(fmi3GetVariableDependencies)(void *c, Reference dependent, size_t *elements,
                                                   Reference *independents, size_t *places, int *kinds, size_t count)
{
    (void)dependent, (void)elements, (void)independents, (void)places, (void)kinds, (void)count;
    return none(c, 1, "list of dependencies");
}

EXPORT fmi3Status FMI(fmi3GetFMUState)(void *instance, void **state)
{
    Component *c = instance;
    if (!*state)
        *state = malloc(sizeof c->model);
    if (!*state)
        return said(c, misuse(&c->model, "no memory for a copy of the state"));
    memcpy(*state, &c->model, sizeof c->model);
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3SetFMUState)(void *instance, void *state)
{
    Component *c = instance;
    return said(c, instance_restore(&c->model, state));
}

EXPORT fmi3Status FMI(fmi3FreeFMUState)(void *instance, void **state)
{
    (void)instance;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3SerializedFMUStateSize)(void *instance, void *state, size_t *size)
{
    (void)instance, (void)state;
    *size = sizeof(Instance);
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3SerializeFMUState)(void *instance, void *state, uint8_t *bytes, size_t size)
{
    Component *c = instance;
    if (size < sizeof(Instance))
        return said(c, misuse(&c->model, "a state takes %d bytes, got %d", (int)sizeof(Instance), (int)size));
    memcpy(bytes, state, sizeof(Instance));
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3DeserializeFMUState)(void *instance, const uint8_t *bytes, size_t size, void **state)
{
    Component *c = instance;
    if (size != sizeof(Instance))
        return said(c, misuse(&c->model, "a state takes %d bytes, got %d", (int)sizeof(Instance), (int)size));
    if (!*state)
        *state = malloc(size);
    if (!*state)
        return said(c, misuse(&c->model, "no memory for a copy of the state"));
    memcpy(*state, bytes, size);
    return fmi3OK;
}

#define DERIVATIVES(Name, instance_function, results) \
    EXPORT fmi3Status FMI(Name)(void *instance, const Reference *unknowns, size_t count, const Reference *knowns, \
                                size_t given, const double *seed, size_t seeds, double *result, size_t length) \
    { \
        (void)seeds; \
        Component *c = instance; \
        if (length != (results)) \
            return said(c, misuse(&c->model, "%d derivatives are needed, got room for %d", (int)(results), (int)length)); \
        return said(c, instance_function(&c->model, unknowns, count, knowns, given, seed, result)); \
    }
DERIVATIVES(fmi3GetDirectionalDerivative, instance_directional, count)
DERIVATIVES(fmi3GetAdjointDerivative, instance_adjoint, given)

EXPORT fmi3Status FMI(fmi3EnterConfigurationMode)(void *c) { return none(c, 1, "structural parameters"); }
EXPORT fmi3Status FMI(fmi3ExitConfigurationMode)(void *c) { return none(c, 1, "structural parameters"); }

#define NO_CLOCK(Name, Value) \
    EXPORT fmi3Status FMI(Name)(void *c, const Reference *vr, size_t count, Value *values) \
    { \
        (void)vr, (void)values; \
        return none(c, count, "clocks"); \
    }
#define NO_COUNTED_CLOCK(Name, Value) \
    EXPORT fmi3Status FMI(Name)(void *c, const Reference *vr, size_t count, Value *counters, Value *resolutions) \
    { \
        (void)vr, (void)counters, (void)resolutions; \
        return none(c, count, "clocks"); \
    }
NO_CLOCK(fmi3GetShiftDecimal, double)
NO_CLOCK(fmi3SetIntervalDecimal, const double)
NO_CLOCK(fmi3SetShiftDecimal, const double)
NO_COUNTED_CLOCK(fmi3GetShiftFraction, uint64_t)
NO_COUNTED_CLOCK(fmi3SetIntervalFraction, const uint64_t)
NO_COUNTED_CLOCK(fmi3SetShiftFraction, const uint64_t)

EXPORT fmi3Status FMI(fmi3GetIntervalDecimal)(void *c, const Reference *vr, size_t count, double *values, int *kinds)
{
    (void)vr, (void)values, (void)kinds;
    return none(c, count, "clocks");
}

EXPORT fmi3Status FMI(fmi3GetIntervalFraction)(void *c, const Reference *vr, size_t count, uint64_t *counters,
                                               uint64_t *resolutions, int *kinds)
{
    (void)vr, (void)counters, (void)resolutions, (void)kinds;
    return none(c, count, "clocks");
}

EXPORT fmi3Status FMI(fmi3ActivateModelPartition)(void *c, Reference clock, double time)
{
    (void)clock, (void)time;
    return none(c, 1, "clocks");
}

/* Events: there are none, but an importer may go through their mode. */
EXPORT fmi3Status FMI(fmi3EnterEventMode)(void *c) { return none(c, 0, ""); }
EXPORT fmi3Status FMI(fmi3EnterStepMode)(void *c) { return none(c, 0, ""); }
EXPORT fmi3Status FMI(fmi3EnterContinuousTimeMode)(void *c) { return none(c, 0, ""); }
EXPORT fmi3Status FMI(fmi3EvaluateDiscreteStates)(void *c) { return none(c, 0, ""); }

EXPORT fmi3Status FMI(fmi3UpdateDiscreteStates)(void *c, bool *more, bool *terminate, bool *nominals, bool *values,
                                                bool *defined, double *next)
{
    (void)c;
    *more = *terminate = *nominals = *values = *defined = false;
    *next = 0.0;
    return fmi3OK;
}

/* Model exchange */
EXPORT fmi3Status FMI(fmi3CompletedIntegratorStep)(void *c, bool final, bool *event, bool *terminate)
{
    (void)c, (void)final;
    *event = *terminate = false;
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3SetTime)(void *instance, double time)
{
    ((Component *)instance)->model.values[0] = time;
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3SetContinuousStates)(void *instance, const double *states, size_t count)
{
    Component *c = instance;
    return said(c, instance_set_states(&c->model, states, count));
}

EXPORT fmi3Status FMI(fmi3GetContinuousStateDerivatives)(void *instance, double *derivatives, size_t count)
{
    Component *c = instance;
    return said(c, instance_derivatives(&c->model, derivatives, count));
}

EXPORT fmi3Status FMI(fmi3GetContinuousStates)(void *instance, double *states, size_t count)
{
    Component *c = instance;
    if (count != STATES)
        return none(c, 1, "such number of states");
    if (count)
        memcpy(states, c->model.values + FIRST_STATE, count * sizeof *states);
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3GetNominalsOfContinuousStates)(void *c, double *nominals, size_t count)
{
    (void)c;
    for (size_t k = 0; k < count; k++)
        nominals[k] = 1.0;
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3GetEventIndicators)(void *c, double *indicators, size_t count)
{
    (void)indicators;
    return none(c, count, "event indicators");
}

EXPORT fmi3Status FMI(fmi3GetNumberOfEventIndicators)(void *c, size_t *count)
{
    (void)c;
    *count = 0;
    return fmi3OK;
}

EXPORT fmi3Status FMI(fmi3GetNumberOfContinuousStates)(void *c, size_t *count)
{
    (void)c;
    *count = STATES;
    return fmi3OK;
}

/* Co-simulation */
EXPORT fmi3Status FMI(fmi3GetOutputDerivatives)(void *c, const Reference *vr, size_t count, const int32_t *orders,
                                                double *values, size_t length)
{
    (void)vr, (void)orders, (void)values, (void)length;
    return none(c, count, "derivatives of outputs");
}

EXPORT fmi3Status FMI(fmi3DoStep)(void *instance, double time, double step, bool final, bool *event,
                                  bool *terminate, bool *early, double *last)
{
    (void)final;
    Component *c = instance;
    const Outcome outcome = instance_step(&c->model, time, step);
    *event = *terminate = *early = false;
    *last = outcome == FINE ? time + step : time;
    return said(c, outcome);
}
