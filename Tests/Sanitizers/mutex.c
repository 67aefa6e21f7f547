// Tells the thread sanitizer about Swift's Mutex if two threads want one at the same time. Without contention, instructions
// in the program lock a mutex, and the sanitizer sees them; else functions of libswiftSynchronization do. That library is not
// compiled for the sanitizer, which would take each such pair of accesses for a race. These wrappers report the synchronization.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Defined if the program has a thread sanitizer.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

SWIFT void lockSlow(uint32_t, SELF) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT bool tryLockSlow(SELF) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFT void unlockSlow(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

static void *(lockNext), *(tryLockNext), *(unlockNext);

__attribute__((constructor)) static void find(void) {
  lockNext = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
  tryLockNext = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
  unlockNext = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
}

SWIFT void lockSlow(uint32_t thread, SELF) {
  ((SWIFT void (*)(uint32_t, SELF))lockNext)(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool tryLockSlow(SELF) {
  bool isLocked = ((SWIFT bool (*)(SELF))tryLockNext)(self);
  if (isLocked && __tsan_acquire) __tsan_acquire(self);
  return isLocked;
}

SWIFT void unlockSlow(SELF) {
  if (__tsan_release) __tsan_release(self);
  ((SWIFT void (*)(SELF))unlockNext)(self);
}
