#ifndef CTESTRIG_H
#define CTESTRIG_H

/// Lets this thread, and no other one of the process, act as that user and its group of the same number, without other
/// groups. For root only. Returns 0, or the error number.
int qct_become(unsigned user);

/// Takes ``qct_become`` back.
int qct_become_root(void);

#endif
