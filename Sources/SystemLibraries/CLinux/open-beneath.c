// openat2(2) has no function in glibc.

#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const int qc_o_path = O_PATH;

enum { max_depth = 64, max_links = 40, max_tries = 16 };

// The folders from the outermost one to the current one: «..» goes back through them without asking the kernel,
// so that nobody can move the folders meanwhile.
struct walk {
    int folders[max_depth];
    int count;
};

static void leave(struct walk *walk) { close(walk->folders[--walk->count]); }

// Puts the target of a symbolic link before the rest of the path, which is empty or begins with a slash.
static int expand(int link, char *rest, size_t size) {
    char target[PATH_MAX];
    ssize_t length = readlinkat(link, "", target, sizeof target - 1);
    if (length < 0) return -errno;
    target[length] = 0;
    if (target[0] == '/') return -EXDEV;
    size_t left = strlen(rest);
    if (length == 0) return -ENOENT;
    if ((size_t)length + left >= size) return -ENAMETOOLONG;
    memmove(rest + length, rest, left + 1);
    memcpy(rest, target, (size_t)length);
    return 0;
}

static int open_last(const struct walk *walk, const char *name, int flags, unsigned mode) {
    int result = openat(walk->folders[walk->count - 1], name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
    return result < 0 ? -errno : result;
}

// Takes the first component off `rest` and enters it. Returns 1 when it was the last one and `opened` is the result.
static int step(struct walk *walk, char *rest, size_t size, int flags, unsigned mode, int *opened, int *links) {
    size_t slashes = strspn(rest, "/");
    memmove(rest, rest + slashes, strlen(rest) - slashes + 1);
    size_t length = strcspn(rest, "/");
    char name[NAME_MAX + 1];
    if (length > NAME_MAX) return -ENAMETOOLONG;
    memcpy(name, rest, length);
    name[length] = 0;
    memmove(rest, rest + length, strlen(rest) - length + 1);
    int is_last = rest[strspn(rest, "/")] == 0;

    if (length == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        if (strcmp(name, "..") == 0) {
            if (walk->count == 1) return -EXDEV;
            leave(walk);
        }
        if (!is_last) return 0;
        *opened = open_last(walk, ".", flags, mode);
        return 1;
    }
    int found = openat(walk->folders[walk->count - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (found < 0) {
        if (errno != ENOENT || !is_last) return -errno;
        *opened = open_last(walk, name, flags, mode);
        return 1;
    }
    struct stat status;
    if (fstat(found, &status) != 0 || S_ISLNK(status.st_mode)) {
        int error = ++*links > max_links ? -ELOOP : expand(found, rest, size);
        close(found);
        return error;
    }
    // A component that is not the last must be a folder, and so must one before a slash.
    if (is_last && rest[0] == 0) {
        close(found);
        *opened = open_last(walk, name, flags, mode);
        return 1;
    }
    if (!S_ISDIR(status.st_mode) || walk->count == max_depth) {
        close(found);
        return S_ISDIR(status.st_mode) ? -ELOOP : -ENOTDIR;
    }
    walk->folders[walk->count++] = found;
    if (!is_last) return 0;
    *opened = open_last(walk, ".", flags, mode);
    return 1;
}

// Does what openat2(2) does, for when a system-call filter forbids it: systemd's RestrictSUIDSGID= does, since a filter
// cannot see into its arguments. It takes one component at a time; the kernel follows no link.
int qc_walk_beneath(int folder, const char *path, int flags, unsigned mode) {
    if (path[0] == 0) return -ENOENT;
    if (path[0] == '/') return -EXDEV;
    char rest[2 * PATH_MAX];
    if (strlen(path) >= PATH_MAX) return -ENAMETOOLONG;
    strcpy(rest, path);
    struct walk walk = {.count = 0};
    int start = openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (start < 0) return -errno;
    walk.folders[walk.count++] = start;
    int opened = -1, links = 0, state;
    do state = step(&walk, rest, sizeof rest, flags, mode, &opened, &links);
    while (state == 0);
    while (walk.count > 0) leave(&walk);
    return state < 0 ? state : opened;
}

int qc_open_beneath(int folder, const char *path, int flags, unsigned mode) {
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    long result;
    int tries = 0;
    do result = syscall(SYS_openat2, folder, path, &how, sizeof how);
    // EAGAIN: something was renamed meanwhile, so that the kernel cannot be sure where it is. Somebody may rename without
    // end, anywhere on the machine, so after some tries the path is walked, which no renaming can hold up.
    while (result < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < max_tries)));
    if (result >= 0) return (int)result;
    if (errno == ENOSYS || errno == EPERM || errno == EAGAIN) return qc_walk_beneath(folder, path, flags, mode);
    return -errno;
}
