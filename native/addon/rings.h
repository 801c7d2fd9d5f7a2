// Rings that a JavaScript caller opens by their paths.
#pragma once

#include <napi.h>

#include <string>

#include "ring/ring_file.h"

namespace nixl_otel::addon {

Napi::Object ringInfo(Napi::Env env, RingState state, const std::string& reason);

}  // namespace nixl_otel::addon
