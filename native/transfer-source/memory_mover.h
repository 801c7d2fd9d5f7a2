// Moves the bytes of one agent's transfers in two steps. The agent measures the time to post and the time to complete.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace nixl_otel::transfer_source {

enum class Direction { kWrite, kRead };  // tx: local to remote; rx: remote to local

// Each step throws std::runtime_error if it cannot move the memory.
//
// Thread safety: none. A mover belongs to one thread.
class MemoryMover {
 public:
  virtual ~MemoryMover() = default;
  virtual uint64_t registeredBytes() const = 0;
  // Begins the copy.
  virtual void post(Direction direction, uint64_t bytes) = 0;
  // Returns when all bytes of the posted copy have arrived.
  virtual void complete() = 0;
};

// Host memory to host memory. The "remote" side is a second buffer of this process.
class HostMover final : public MemoryMover {
 public:
  // With `copyFree` both steps do nothing, and the buffers are allocated but never accessed.
  HostMover(uint64_t largestTransfer, bool copyFree);
  uint64_t registeredBytes() const override { return 2 * size_; }
  void post(Direction direction, uint64_t bytes) override;
  void complete() override;

 private:
  const uint64_t size_;
  const bool copyFree_;
  std::unique_ptr<std::byte[]> local_;
  std::unique_ptr<std::byte[]> remote_;
  // Rest of the posted copy.
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  uint64_t left_ = 0;
};

}  // namespace nixl_otel::transfer_source
