// A native part from another build: it loads, and reports another interface version.
#include <node_api.h>

NAPI_MODULE_INIT() {
  napi_value version;
  napi_create_double(env, OTHER_VERSION, &version);
  napi_set_named_property(env, exports, "interfaceVersion", version);
  return exports;
}
