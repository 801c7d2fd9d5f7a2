#include "memory_mover.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

namespace nixl_otel::transfer_source {

namespace {

constexpr uint64_t kPostBytes = 4096;

std::unique_ptr<std::byte[]> allocate(uint64_t bytes) {
  try {
    return std::make_unique_for_overwrite<std::byte[]>(bytes);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("cannot allocate " + std::to_string(bytes) + " bytes for a transfer buffer");
  }
}

void copyBytes(std::byte* to, const std::byte* from, uint64_t bytes) {
  std::memcpy(to, from, bytes);
  // Keeps the compiler from omitting the copy, which no code reads.
  asm volatile("" : : "r"(to), "r"(from) : "memory");
}

}  // namespace

HostMover::HostMover(uint64_t largestTransfer, bool copyFree)
    : size_(largestTransfer), copyFree_(copyFree), local_(allocate(size_)), remote_(allocate(size_)) {
  if (copyFree_) return;
  // Touches each page, so that the first transfer does not measure page faults.
  std::memset(local_.get(), 0x5a, size_);
  std::memset(remote_.get(), 0xa5, size_);
}

// Copies the first part: at most 4 KiB and at most half. No hardware takes a host copy over, so the copy counts as
// posted after this part.
void HostMover::post(Direction direction, uint64_t bytes) {
  if (copyFree_) return;
  const bool write = direction == Direction::kWrite;
  const uint64_t first = std::min(kPostBytes, bytes / 2);
  from_ = write ? local_.get() : remote_.get();
  to_ = write ? remote_.get() : local_.get();
  copyBytes(to_, from_, first);
  from_ += first;
  to_ += first;
  left_ = bytes - first;
}

void HostMover::complete() {
  if (copyFree_) return;
  copyBytes(to_, from_, left_);
  left_ = 0;
}

}  // namespace nixl_otel::transfer_source
