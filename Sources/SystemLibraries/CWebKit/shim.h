#include <webkit2/webkit2.h>
#include <gio/gunixinputstream.h>
#include <glib-unix.h>
#include <gdk/gdkx.h>
#include <X11/Xutil.h>
#include <X11/extensions/dpms.h>

/* GDK 3 tells the name of a monitor's connector only by a function that it calls deprecated. The caller frees it. */
static inline char *qc_monitor_name(GdkScreen *screen, int number) {
G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    return gdk_screen_get_monitor_plug_name(screen, number);
G_GNUC_END_IGNORE_DEPRECATIONS
}
