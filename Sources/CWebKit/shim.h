#include <webkit2/webkit2.h>
#include <gio/gunixinputstream.h>
#include <glib-unix.h>
#include <gdk/gdkx.h>
