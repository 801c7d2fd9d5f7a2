// The Node-API module. Only files in this folder include napi.h.

#include <napi.h>

#include "addon/environment.h"
#include "addon/functions.h"
#include "addon/words.h"

namespace {

Napi::Object init(Napi::Env env, Napi::Object exports) {
  using namespace nixl_otel::addon;
  env.SetInstanceData(new Environment);
  exports.Set("interfaceVersion", static_cast<double>(kInterfaceVersion));
  addSources(exports);
  addSnapshot(exports);
  addRings(exports);
  addObservers(exports);
  addWriter(exports);
  addMemory(exports);
  addPage(exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(nixl_otel, init)
