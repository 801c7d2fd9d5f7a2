// State of one JavaScript environment (main thread or worker).
#pragma once

#include <napi.h>

#include <memory>
#include <set>

#include "collector.h"

namespace nixl_otel::addon {

struct Environment {
  std::set<std::shared_ptr<Source>> sources;
  // Runs when the environment ends. The last source ends the collector's thread and waits for it.
  ~Environment() {
    for (const auto& source : sources) Collector::instance().close(source);
  }
};

inline Environment& environmentOf(const Napi::CallbackInfo& info) { return *info.Env().GetInstanceData<Environment>(); }

}  // namespace nixl_otel::addon
