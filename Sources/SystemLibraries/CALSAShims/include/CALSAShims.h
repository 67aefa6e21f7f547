#ifndef CALSASHIMS_H
#define CALSASHIMS_H

#include <stddef.h>

/// Takes over libasound's messages for the whole process, so that libasound prints none on stderr any more. Calling it
/// again changes nothing.
void qc_alsa_collect_messages(void);

/// Forgets the message that libasound left on this thread.
void qc_alsa_forget_message(void);

/// libasound's first message on this thread since it was last forgotten, or "" if there was none. The first one
/// names the cause ("cannot find card '0'"); those after it say which call had to give up because of it.
/// The text stays valid until the thread's next call of libasound or of these functions.
const char *qc_alsa_message(void);

#endif
