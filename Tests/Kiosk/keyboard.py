"""An on-screen keyboard: a window that takes no keys itself. Needs only the X library."""
import contextlib
import ctypes


class Attributes(ctypes.Structure):
    """XSetWindowAttributes."""
    _fields_ = [(name, ctypes.c_int if name in ("bits", "gravity", "backing", "under", "unmanaged") else ctypes.c_ulong)
                for name in ("pixmap", "pixel", "border_map", "border", "bits", "gravity", "backing", "planes", "backing_pixel", "under", "events",
                             "propagated", "unmanaged", "colors", "cursor")]


@contextlib.contextmanager
def on_screen_keyboard(display, width, height, left, top, takes_keys=False, unmanaged=False):
    """Shows one in that place; the value moves it. A window manager does not see one that is unmanaged."""
    library = ctypes.CDLL("libX11.so.6")
    library.XOpenDisplay.restype = ctypes.c_void_p
    for name in ("XDefaultRootWindow", "XCreateSimpleWindow", "XInternAtom"):
        getattr(library, name).restype = ctypes.c_ulong
    server = ctypes.c_void_p(library.XOpenDisplay(display.name.encode()))
    assert server, f"no X server at {display.name}"
    root = ctypes.c_ulong(library.XDefaultRootWindow(server))
    window = ctypes.c_ulong(library.XCreateSimpleWindow(server, root, left, top, width, height, 0, ctypes.c_ulong(0), ctypes.c_ulong(0x808080)))

    def set_words(name, kind, *words):
        atom = lambda text: ctypes.c_ulong(library.XInternAtom(server, text.encode(), 0))
        values = (ctypes.c_ulong * len(words))(*[atom(word).value if isinstance(word, str) else word for word in words])
        library.XChangeProperty(server, window, atom(name), atom(kind), 32, 0, values, len(words))
    library.XChangeWindowAttributes(server, window, ctypes.c_ulong(1 << 9), ctypes.byref(Attributes(unmanaged=int(unmanaged))))
    # Flags: only «input» is given.
    set_words("WM_HINTS", "WM_HINTS", 1, int(takes_keys), 0, 0, 0, 0, 0, 0, 0)
    set_words("_NET_WM_WINDOW_TYPE", "ATOM", "_NET_WM_WINDOW_TYPE_DOCK")
    library.XMapRaised(server, window)
    library.XFlush(server)

    def move(width, height, left, top):
        library.XMoveResizeWindow(server, window, left, top, width, height)
        library.XFlush(server)
    try:
        yield move
    finally:
        library.XCloseDisplay(server)
