#include "ring/header_look.h"

#include <atomic>

namespace nixl_otel {

// relaxed: what follows a change reads the header again, in the order that it needs.
template <typename T>
T HeaderLook::load(uint32_t offset) const {
  T* const field = reinterpret_cast<T*>(const_cast<std::byte*>(base_ + offset));
  return std::atomic_ref<T>(*field).load(std::memory_order_relaxed);
}

bool HeaderLook::isUnchanged() const {
  const MappingClaim claim(base_, layout_->size);
  const bool isSame = load<uint64_t>(layout_->writePos) == expected_.writePos &&
                      load<uint64_t>(layout_->readPos) == expected_.readPos &&
                      load<int32_t>(layout_->version) == expected_.version &&
                      load<int32_t>(layout_->expectedVersion) == expected_.expectedVersion &&
                      load<uint64_t>(layout_->capacity) == expected_.capacity;
  return isSame && !claim.faulted();
}

}  // namespace nixl_otel
