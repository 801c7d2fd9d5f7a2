// Finds whether a mapped header is still what it was, with a few loads: no system call, no lock.

#pragma once

#include <cstdint>

#include "posix/sigbus_guard.h"
#include "ring/ring_layout.h"

namespace nixl_otel {

class HeaderLook {
 public:
  // Requires: the mapping has these bytes and outlives the look.
  HeaderLook(const std::byte* base, const HeaderLayout& layout, const HeaderValues& expected)
      : base_(base), layout_(&layout), expected_(expected) {}

  // False also if another process truncated the file.
  //
  // Requires: guardMappings() was called.
  bool isUnchanged() const;

 private:
  template <typename T>
  T load(uint32_t offset) const;

  const std::byte* base_;
  const HeaderLayout* layout_;
  HeaderValues expected_;
};

}  // namespace nixl_otel
