#ifndef CGPS_SHIM_H
#define CGPS_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <gps.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// `struct gps_data_t` is large, and its layout changes with each major version of libgps, so Swift never reads it.
// These functions copy out what is needed of a report.

// What receivers report besides positions and satellites.
static const unsigned long long qc_gps_other_data = AIS_SET | ATTITUDE_SET | GST_SET | LOG_SET | NAVDATA_SET
    | OSCILLATOR_SET | PPS_SET | RAW_SET | RTCM2_SET | RTCM3_SET | SUBFRAME_SET | TOFF_SET;

struct qc_gps_report {
    unsigned long long set;  // the subject of the message: MODE_SET for a TPV, SATELLITE_SET for a SKY, …
    int mode;                // 0, 1: no fix; 2: without altitude; 3: with
    double time;             // seconds since 1970; 0 if unknown
    double latitude, longitude, altitude, eph, epv, speed, track;  // not a number if unknown
    int satellites_used, satellites_visible;
    int devices;
};

static inline struct gps_data_t *qc_gps_new(void) { return (struct gps_data_t *)calloc(1, sizeof(struct gps_data_t)); }

static inline void qc_gps_delete(struct gps_data_t *data) { free(data); }

// Returns 0, or a negative code of libgps for `gps_errstr`. From then on no call waits.
static inline int qc_gps_open(const char *host, const char *port, struct gps_data_t *data) {
    errno = 0;
    if (gps_open(host, port, data) != 0) return errno < 0 ? errno : -6;
    fcntl(data->gps_fd, F_SETFL, fcntl(data->gps_fd, F_GETFL) | O_NONBLOCK);
    return 0;
}

static inline int qc_gps_descriptor(const struct gps_data_t *data) { return data->gps_fd; }

// The receiver that the last message comes from; empty if the message does not name it.
static inline const char *qc_gps_device(const struct gps_data_t *data) { return data->dev.path; }

static inline int qc_gps_watch(struct gps_data_t *data) {
    return gps_stream(data, WATCH_ENABLE | WATCH_JSON, NULL);
}

// `gps_read` reads each line with this; libgps exports it, but no installed header declares it.
extern int libgps_json_unpack(const char *line, struct gps_data_t *data, const char **end);

// Reads one line: returns 0, or why it is not a report. `gps_unpack` and `gps_read` try again if a line is broken, has
// too many receivers or too long a name, and then never return.
// libgps adds the subject of a message to `set` and removes none: without this, a SKY after a TPV would be a TPV too.
static inline int qc_gps_unpack(const char *line, struct gps_data_t *data) {
    const char *end = NULL;
    data->set = 0;
    return libgps_json_unpack(line, data, &end);
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
    // gpsd before 3.20 says `alt`, and means the same.
    report.altitude = isfinite(data->fix.altMSL) ? data->fix.altMSL : data->fix.altitude;
    report.eph = data->fix.eph;
    if (!isfinite(report.eph) && data->fix.epx >= 0 && data->fix.epy >= 0) report.eph = hypot(data->fix.epx, data->fix.epy);
    report.epv = data->fix.epv;
    report.speed = data->fix.speed;
    report.track = data->fix.track;
    report.satellites_used = data->satellites_used;
    report.satellites_visible = data->satellites_visible;
    report.devices = data->devices.ndevices;
    return report;
}

#endif
