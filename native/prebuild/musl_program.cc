// The path of musl's loader in .interp makes a shared object a program. The link makes a shared object, because only a
// shared object may leave functions of the C library undefined. musl's loader is its C library and provides them.

#if defined(__x86_64__)
#define LOADER "/lib/ld-musl-x86_64.so.1"
#elif defined(__aarch64__)
#define LOADER "/lib/ld-musl-aarch64.so.1"
#endif

extern "C" {

__attribute__((section(".interp"), used, retain)) extern const char nixlOtelLoader[] = LOADER;

// glibc's start-up code passes these functions to __libc_start_main. musl ignores them and calls constructors itself.
__attribute__((visibility("hidden"))) void __libc_csu_init() {}
__attribute__((visibility("hidden"))) void __libc_csu_fini() {}
}
