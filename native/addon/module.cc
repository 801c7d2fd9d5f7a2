// The thin Node-API wrapper: handles in, numbers out. Only this folder includes napi.h.

#include <napi.h>

#include "addon/environment.h"
#include "addon/functions.h"

namespace {

Napi::Object init(Napi::Env env, Napi::Object exports) {
  using namespace nixl_otel::addon;
  env.SetInstanceData(new Environment);
  addSources(exports);
  addSnapshot(exports);
  addRings(exports);
  addObservers(exports);
  addWriter(exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(nixl_otel, init)
