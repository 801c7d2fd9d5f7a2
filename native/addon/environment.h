// State of one JavaScript environment (main thread or worker).
#pragma once

#include <napi.h>

#include <memory>
#include <set>

#include "collector/collector.h"

namespace nixl_otel::addon {

struct Environment {
  std::set<std::shared_ptr<Source>> sources;
  // Closes the sources of an environment that ends. Closing the last source of the process ends the collector's thread.
  ~Environment() {
    for (const auto& source : sources) Collector::instance().close(source);
  }
};

inline Environment& environmentOf(const Napi::CallbackInfo& info) { return *info.Env().GetInstanceData<Environment>(); }

}  // namespace nixl_otel::addon
