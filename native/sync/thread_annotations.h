// Lock discipline, which clang checks with -Wthread-safety (`make thread-safety`). Other compilers get empty macros.
//
// A capability is a mutex, or a role of one thread. A thread must hold it to access data or to call a function.

#pragma once

#if defined(__clang__)
#define NIXL_OTEL_ANNOTATION(attribute) __attribute__((attribute))
#else
#define NIXL_OTEL_ANNOTATION(attribute)
#endif

// Types. A scoped capability is acquired in its constructor and released in its destructor.
#define CAPABILITY(name) NIXL_OTEL_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY NIXL_OTEL_ANNOTATION(scoped_lockable)

// Data: every access requires the capability.
#define GUARDED_BY(capability) NIXL_OTEL_ANNOTATION(guarded_by(capability))
#define ACQUIRED_BEFORE(...) NIXL_OTEL_ANNOTATION(acquired_before(__VA_ARGS__))

// Functions: capabilities that the caller must hold, must not hold, acquires or releases. Without an argument: `this`.
#define REQUIRES(...) NIXL_OTEL_ANNOTATION(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) NIXL_OTEL_ANNOTATION(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) NIXL_OTEL_ANNOTATION(acquire_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) NIXL_OTEL_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define RELEASE(...) NIXL_OTEL_ANNOTATION(release_capability(__VA_ARGS__))

// Requires a comment with the reason at each use.
#define NO_THREAD_SAFETY_ANALYSIS NIXL_OTEL_ANNOTATION(no_thread_safety_analysis)
