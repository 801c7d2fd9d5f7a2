// Events as JavaScript objects, or in columns.
#pragma once

#include <napi.h>

#include "ring/event_columns.h"
#include "ring/ring_event.h"

namespace nixl_otel::addon {

Napi::Object eventObject(Napi::Env env, const RingLayout& layout, const RingEvent& event);
Napi::Object columnsObject(Napi::Env env, const EventColumns& columns);

}  // namespace nixl_otel::addon
