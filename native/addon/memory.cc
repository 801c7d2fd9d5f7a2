// Memory of the process.

#include <malloc.h>

#include "addon/functions.h"
#include "addon/values.h"

// Absent in musl, whose binary is made of the same objects.
#pragma weak mallopt

namespace nixl_otel::addon {

namespace {

// Lets further threads share the memory of the first, and returns large blocks to the system when they are freed. Each
// of V8's threads otherwise keeps megabytes that it has used once to compile a function.
void shareFreedMemory(const Napi::CallbackInfo&) {
#ifdef __GLIBC__
  if (mallopt == nullptr) return;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  mallopt(M_TRIM_THRESHOLD, 128 * 1024);
#endif
}

}  // namespace

void addMemory(Napi::Object exports) { add(exports, "shareFreedMemory", shareFreedMemory); }

}  // namespace nixl_otel::addon
