// Events in columns, for JavaScript.
#pragma once

#include <napi.h>

#include "ring/event_columns.h"

namespace nixl_otel::addon {

Napi::Object columnsObject(Napi::Env env, const EventColumns& columns);

}  // namespace nixl_otel::addon
