// Moves memory between the host and GPU 0, and within the GPU, through the CUDA driver API.

#pragma once

#include <cstdint>
#include <memory>

#include "memory_mover.h"

namespace nixl_otel::transfer_source {

struct CudaDriver;  // functions of libcuda.so.1, which is loaded at run time, so that the build needs no CUDA

// Writes alternate between host to device and device to device, reads between device to host and device to device. A
// copy is posted when the driver has accepted the asynchronous launch, and complete when the stream is synchronised.
class GpuMover final : public MemoryMover {
 public:
  // Throws std::runtime_error if there is no driver, no GPU or not enough memory, or if the GPU returns wrong bytes.
  explicit GpuMover(uint64_t largestTransfer);
  ~GpuMover() override;
  uint64_t registeredBytes() const override { return 3 * size_; }
  void post(Direction direction, uint64_t bytes) override;
  void complete() override;
  const char* deviceName() const { return deviceName_; }

 private:
  void open();
  void close();
  void verifyRoundTrip();

  const uint64_t size_;
  std::unique_ptr<CudaDriver> cuda_;
  int device_ = 0;
  char deviceName_[128] = "";
  bool contextHeld_ = false;
  void* stream_ = nullptr;
  void* host_ = nullptr;  // page-locked, so that a launch returns before the bytes have moved
  unsigned long long local_ = 0;
  unsigned long long remote_ = 0;
  bool withinDevice_[2] = {false, false};  // by direction: the next copy is device to device
};

}  // namespace nixl_otel::transfer_source
