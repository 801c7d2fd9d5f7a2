// Options from JavaScript.
#pragma once

#include <napi.h>

#include "collector/collector.h"

namespace nixl_otel::addon {

TallyOptions tallyOptions(const Napi::Object& tally);
SourceOptions sourceOptions(const Napi::Object& o);
// `types` is an array with the numbers of known types, or 'all' for every event.
TapWants tapWants(const Napi::Value& types, const Napi::Value& first);

}  // namespace nixl_otel::addon
