// One ring, drained by hand or looked at; rings and their events as JavaScript objects.
#pragma once

#include <napi.h>

#include <string>

#include "ring_event.h"
#include "ring_file.h"

namespace nixl_otel::addon {

Napi::Object eventObject(Napi::Env env, const RingLayout& layout, const RingEvent& event);
Napi::Object ringInfo(Napi::Env env, RingState state, const std::string& reason);

}  // namespace nixl_otel::addon
