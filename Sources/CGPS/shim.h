#ifndef CGPS_SHIM_H
#define CGPS_SHIM_H

#include <errno.h>
#include <gps.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// `struct gps_data_t` is large, and its layout changes with each major version of libgps: Swift never sees into it.
// What is needed of a report is copied out here.

struct qc_gps_report {
    unsigned long long set;  // what the last message was about: MODE_SET for a TPV, SATELLITE_SET for a SKY, …
    int mode;                // 0, 1: no fix; 2: without altitude; 3: with
    double time;             // seconds since 1970; 0 where unknown
    double latitude, longitude, altitude, eph, epv, speed, track;  // not a number where unknown
    int satellites_used, satellites_visible;
    int devices;
};

static inline struct gps_data_t *qc_gps_new(void) { return (struct gps_data_t *)calloc(1, sizeof(struct gps_data_t)); }

static inline void qc_gps_delete(struct gps_data_t *data) { free(data); }

// 0, or a negative code of libgps for `gps_errstr`.
static inline int qc_gps_open(const char *host, const char *port, struct gps_data_t *data) {
    errno = 0;
    if (gps_open(host, port, data) == 0) return 0;
    return errno < 0 ? errno : -6;
}

static inline int qc_gps_watch(struct gps_data_t *data) {
    return gps_stream(data, WATCH_ENABLE | WATCH_JSON, NULL);
}

static inline void qc_gps_close(struct gps_data_t *data) {
    gps_stream(data, WATCH_DISABLE, NULL);
    gps_close(data);
}

static inline struct qc_gps_report qc_gps_report(const struct gps_data_t *data) {
    struct qc_gps_report report;
    report.set = data->set;
    report.mode = data->fix.mode;
    report.time = (double)data->fix.time.tv_sec + (double)data->fix.time.tv_nsec * 1e-9;
    report.latitude = data->fix.latitude;
    report.longitude = data->fix.longitude;
    report.altitude = data->fix.altMSL;
    report.eph = isfinite(data->fix.eph) ? data->fix.eph : hypot(data->fix.epx, data->fix.epy);
    report.epv = data->fix.epv;
    report.speed = data->fix.speed;
    report.track = data->fix.track;
    report.satellites_used = data->satellites_used;
    report.satellites_visible = data->satellites_visible;
    report.devices = data->devices.ndevices;
    return report;
}

#endif
