#ifndef CTESTRIG_H
#define CTESTRIG_H

/// Lets this thread, and no other one of the process, act as that user and its group of the same number, without other
/// groups. For root only. Returns 0, or the error number.
int qct_become(unsigned user);

/// Takes ``qct_become`` back.
int qct_become_root(void);

/// From now on openat2(2) fails in this thread, and in no other one of the process, with that error. Nothing takes it
/// back. Returns 0, or the error number.
int qct_refuse_openat2(int error);

/// The same for read(2) of 8 bytes, as of a timerfd_create(2) or an eventfd(2).
int qct_refuse_counters(int error);

/// The same for timerfd_settime(2).
int qct_refuse_timers(int error);

#endif
