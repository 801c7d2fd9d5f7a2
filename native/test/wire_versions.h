// All wire versions that ring_layout.h has, each once.

#pragma once

#include <cstdint>
#include <set>

#include "ring/ring_layout.h"

namespace nixl_otel {

inline std::set<int32_t> wireVersions() {
  std::set<int32_t> versions;
  for (const RingLayout& layout : kLayouts) versions.insert(layout.version);
  return versions;
}

}  // namespace nixl_otel
