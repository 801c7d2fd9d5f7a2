// Turns a shared object into a program for musl by the path of its loader, which is the C library as well. The link
// makes a shared object because only those may leave functions of the C library undefined.

#if defined(__x86_64__)
#define LOADER "/lib/ld-musl-x86_64.so.1"
#elif defined(__aarch64__)
#define LOADER "/lib/ld-musl-aarch64.so.1"
#endif

extern "C" {

__attribute__((section(".interp"), used, retain)) extern const char nixlOtelLoader[] = LOADER;

// glibc's start-up code passes them on; musl ignores them and calls constructors by itself.
__attribute__((visibility("hidden"))) void __libc_csu_init() {}
__attribute__((visibility("hidden"))) void __libc_csu_fini() {}
}
