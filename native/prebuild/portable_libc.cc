// Functions of the C library that glibc 2.17 or musl lacks. This code needs them, or Debian's libstdc++.a does, which
// was compiled for glibc 2.36. They have hidden visibility: no other library of the process sees them.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#include "prebuild/futex_condition.h"

namespace {

// First word of a condition. std::condition_variable initialises it to zero, and only the functions below use it.
nixl_otel::futex_condition::Word* wordOf(pthread_cond_t* condition) {
  return reinterpret_cast<nixl_otel::futex_condition::Word*>(condition);
}

// Destructor of a thread_local object. It runs at the end of the thread; newer objects come first.
struct AtThreadEnd {
  void (*run)(void*);
  void* object;
  AtThreadEnd* next;
};

void runAtThreadEnd(void* list) {
  for (auto* entry = static_cast<AtThreadEnd*>(list); entry != nullptr;) {
    AtThreadEnd* next = entry->next;
    entry->run(entry->object);
    delete entry;
    entry = next;
  }
}

pthread_key_t atThreadEndKey() {
  static pthread_key_t key;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  ::pthread_once(&once, [] { ::pthread_key_create(&key, runAtThreadEnd); });
  return key;
}

struct ObjectSearch {
  uintptr_t address;
  dl_find_object* result;
};

int findObject(dl_phdr_info* object, size_t, void* data) {
  const auto* search = static_cast<ObjectSearch*>(data);
  bool isInside = false;
  void* frames = nullptr;
  for (size_t i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) & segment = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && search->address - begin < segment.p_memsz) isInside = true;
    if (segment.p_type == PT_GNU_EH_FRAME) frames = reinterpret_cast<void*>(begin);
  }
  if (!isInside || frames == nullptr) return 0;
  search->result->dlfo_eh_frame = frames;
  return 1;
}

}  // namespace

extern "C" {

// Exists since glibc 2.32. libstdc++ omits atomic operations if it is true. False is always correct.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// Exists since glibc 2.35. Debian's libgcc has no other way to unwind: without this function each C++ exception would
// end the process. libgcc reads only dlfo_eh_frame of the result.
__attribute__((visibility("hidden"))) int _dl_find_object(void* address, dl_find_object* result) noexcept {
  ObjectSearch search{reinterpret_cast<uintptr_t>(address), result};
  return ::dl_iterate_phdr(findObject, &search) == 1 ? 0 : -1;
}

// musl has only getauxval. libgcc calls __getauxval to detect the newer atomic instructions of arm64.
__attribute__((visibility("hidden"))) unsigned long __getauxval(unsigned long type) { return ::getauxval(type); }

// Exists since glibc 2.18. Ignores the handle of the library: it is never unloaded (-z nodelete). Runs no destructor on
// the main thread, where it would only free memory at the end of the process.
__attribute__((visibility("hidden"))) int __cxa_thread_atexit_impl(void (*run)(void*), void* object, void*) {
  const pthread_key_t key = atThreadEndKey();
  auto* entry = new (std::nothrow) AtThreadEnd{run, object, static_cast<AtThreadEnd*>(::pthread_getspecific(key))};
  if (entry == nullptr) return -1;
  return ::pthread_setspecific(key, entry);
}

// Exists since glibc 2.25.
__attribute__((visibility("hidden"))) ssize_t getrandom(void* bytes, size_t size, unsigned flags) {
  return ::syscall(SYS_getrandom, bytes, size, flags);
}

// pthread_cond_clockwait exists since glibc 2.30. The other functions of conditions are replaced too, because they must
// use the same word.
__attribute__((visibility("hidden"))) int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                                 clockid_t clock, const timespec* deadline) {
  return nixl_otel::futex_condition::wait(wordOf(condition), mutex, clock, deadline);
}
__attribute__((visibility("hidden"))) int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                                 const timespec* deadline) {
  return nixl_otel::futex_condition::wait(wordOf(condition), mutex, CLOCK_REALTIME, deadline);
}
__attribute__((visibility("hidden"))) int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return nixl_otel::futex_condition::wait(wordOf(condition), mutex, CLOCK_MONOTONIC, nullptr);
}
__attribute__((visibility("hidden"))) int pthread_cond_signal(pthread_cond_t* condition) {
  nixl_otel::futex_condition::wake(wordOf(condition));
  return 0;
}
__attribute__((visibility("hidden"))) int pthread_cond_broadcast(pthread_cond_t* condition) {
  nixl_otel::futex_condition::wake(wordOf(condition));
  return 0;
}
__attribute__((visibility("hidden"))) int pthread_cond_destroy(pthread_cond_t*) { return 0; }
}
