/*
 * A control loop around an exported control_step: PERIODS periods at RATE Hz, at absolute times.
 *
 * Every period it takes coordinates as an encoder would give them (here a slow wave about home), computes pose and forces,
 * and records execution time and wake-up latency. Prints median, worst case and jitter in microseconds.
 * Written and run by control_loop.py, which defines STEP_H, STEP, ACTUATORS, HOME, Q, RATE and PERIODS.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include STEP_H

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1000000000LL * t.tv_sec + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *times)
{
    qsort(times, PERIODS, sizeof *times, by_size);
    const double median = times[PERIODS / 2], worst = times[PERIODS - 1];
    printf("%s %.2f %.2f %.2f\n", what, median, worst, worst - times[0]);
}

int main(void)
{
    static double taken[PERIODS], late[PERIODS];
    const double home[ACTUATORS] = Q;
    double pose[16] = HOME, wrench[6] = {0}, qddot[ACTUATORS] = {0}, q[ACTUATORS], qdot[ACTUATORS];
    double pose_found[16], twist[6], force[ACTUATORS], residual[1], quality[1];
    const long long start = now() + 1000000;
    for (int k = 0; k < PERIODS; k++) {
        const long long due = start + (long long)(1e9 / RATE * k);
        const struct timespec when = {(time_t)(due / 1000000000LL), (long)(due % 1000000000LL)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
        const long long begin = now();
        const double angle = 6.283185307179586 * k / RATE;
        for (int i = 0; i < ACTUATORS; i++) {
            q[i] = home[i] + 1e-3 * sin(angle + i);
            qdot[i] = 6.283185307179586e-3 * cos(angle + i);
        }
        const int status = STEP(q, pose, qdot, qddot, wrench, pose_found, twist, force, residual, quality);
        if (status != POLYPOD_OK) return status; /* a controller would stop the drives here */
        for (int i = 0; i < 16; i++) pose[i] = pose_found[i]; /* the next period starts from here */
        taken[k] = 1e-3 * (double)(now() - begin);
        late[k] = 1e-3 * (double)(begin - due);
    }
    report("step", taken);
    report("wake", late);
    return 0;
}
