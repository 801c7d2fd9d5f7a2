// What makes a shared object a program of musl's: the path of the loader, which is the C library as well. Linked as a
// shared object because only there may functions of the C library stay open without one to link against.

#if defined(__x86_64__)
#define LOADER "/lib/ld-musl-x86_64.so.1"
#elif defined(__aarch64__)
#define LOADER "/lib/ld-musl-aarch64.so.1"
#endif

extern "C" {

__attribute__((section(".interp"), used, retain)) extern const char nixlOtelLoader[] = LOADER;

// glibc's start-up code hands them over; musl calls constructors by itself and does not look at them.
__attribute__((visibility("hidden"))) void __libc_csu_init() {}
__attribute__((visibility("hidden"))) void __libc_csu_fini() {}
}
