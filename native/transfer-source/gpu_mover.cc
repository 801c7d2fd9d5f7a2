#include "gpu_mover.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace nixl_otel::transfer_source {

// Functions of libcuda.so.1, with prototypes from the CUDA Driver API reference. CUresult and CUdevice are ints,
// CUdeviceptr is an unsigned 64-bit integer, contexts and streams are opaque pointers. cuda.h maps the plain names to
// the names with _v2.
struct CudaDriver {
  using Ptr = unsigned long long;
  void* const library = open();
  int (*init)(unsigned flags) = find("cuInit");
  int (*deviceGet)(int* device, int ordinal) = find("cuDeviceGet");
  int (*deviceGetName)(char* name, int length, int device) = find("cuDeviceGetName");
  int (*primaryCtxRetain)(void** context, int device) = find("cuDevicePrimaryCtxRetain");
  int (*primaryCtxRelease)(int device) = find("cuDevicePrimaryCtxRelease_v2");
  int (*ctxSetCurrent)(void* context) = find("cuCtxSetCurrent");
  int (*memAlloc)(Ptr* pointer, size_t bytes) = find("cuMemAlloc_v2");
  int (*memFree)(Ptr pointer) = find("cuMemFree_v2");
  int (*memAllocHost)(void** pointer, size_t bytes) = find("cuMemAllocHost_v2");
  int (*memFreeHost)(void* pointer) = find("cuMemFreeHost");
  int (*streamCreate)(void** stream, unsigned flags) = find("cuStreamCreate");
  int (*streamDestroy)(void* stream) = find("cuStreamDestroy_v2");
  int (*streamSynchronize)(void* stream) = find("cuStreamSynchronize");
  int (*copyHostToDevice)(Ptr to, const void* from, size_t bytes, void* stream) = find("cuMemcpyHtoDAsync_v2");
  int (*copyDeviceToHost)(void* to, Ptr from, size_t bytes, void* stream) = find("cuMemcpyDtoHAsync_v2");
  int (*copyDeviceToDevice)(Ptr to, Ptr from, size_t bytes, void* stream) = find("cuMemcpyDtoDAsync_v2");
  int (*getErrorName)(int result, const char** name) = find("cuGetErrorName");

  static void* open() {
    // The library is never closed, because the driver's threads continue to run.
    void* opened = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (opened != nullptr) return opened;
    throw std::runtime_error(std::string("--gpu needs an NVIDIA driver, and there is none here: ") + ::dlerror());
  }

  // Becomes a pointer of the type that it initialises.
  struct Symbol {
    void* address;
    template <typename Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address);
    }
  };
  Symbol find(const char* name) const {
    void* address = ::dlsym(library, name);
    if (address == nullptr) throw std::runtime_error(std::string("this libcuda.so.1 has no ") + name);
    return {address};
  }

  void check(int result, const char* call) const {
    if (result == 0) return;
    const char* name = nullptr;
    if (getErrorName(result, &name) != 0 || name == nullptr) name = "unknown error";
    throw std::runtime_error(std::string(call) + ": " + name + " (" + std::to_string(result) + ")");
  }
};

GpuMover::GpuMover(uint64_t largestTransfer) : size_(largestTransfer), cuda_(std::make_unique<CudaDriver>()) {
  try {
    open();
    verifyRoundTrip();
  } catch (...) {
    close();
    throw;
  }
}

GpuMover::~GpuMover() { close(); }

void GpuMover::open() {
  cuda_->check(cuda_->init(0), "--gpu needs a GPU, and none can be used here: cuInit");
  cuda_->check(cuda_->deviceGet(&device_, 0), "--gpu needs a GPU, and there is none here: cuDeviceGet");
  cuda_->check(cuda_->deviceGetName(deviceName_, sizeof deviceName_, device_), "cuDeviceGetName");
  // All agents of this process share the primary context. It is current per thread, so the mover remains on this
  // thread.
  void* context = nullptr;
  cuda_->check(cuda_->primaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain");
  contextHeld_ = true;
  cuda_->check(cuda_->ctxSetCurrent(context), "cuCtxSetCurrent");
  constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING: agents must not wait for each other
  cuda_->check(cuda_->streamCreate(&stream_, kNonBlocking), "cuStreamCreate");
  cuda_->check(cuda_->memAllocHost(&host_, size_), "cuMemAllocHost");
  cuda_->check(cuda_->memAlloc(&local_, size_), "cuMemAlloc");
  cuda_->check(cuda_->memAlloc(&remote_, size_), "cuMemAlloc");
}

void GpuMover::close() {
  // Ignores failures: they change no number, and the end of the program frees the same memory.
  if (stream_ != nullptr) (void)cuda_->streamSynchronize(stream_);
  if (remote_ != 0) (void)cuda_->memFree(remote_);
  if (local_ != 0) (void)cuda_->memFree(local_);
  if (host_ != nullptr) (void)cuda_->memFreeHost(host_);
  if (stream_ != nullptr) (void)cuda_->streamDestroy(stream_);
  if (contextHeld_) (void)cuda_->primaryCtxRelease(device_);
}

// Copies bytes from host to device, within the device, and back. Throws unless the same bytes return.
void GpuMover::verifyRoundTrip() {
  const size_t bytes = std::min<uint64_t>(size_, 1 << 20);
  auto* host = static_cast<unsigned char*>(host_);
  std::memset(host_, 0, size_);
  for (size_t i = 0; i < bytes; i++) host[i] = static_cast<unsigned char>(i * 131 + (i >> 8));
  cuda_->check(cuda_->copyHostToDevice(local_, host_, bytes, stream_), "cuMemcpyHtoDAsync");
  cuda_->check(cuda_->copyDeviceToDevice(remote_, local_, bytes, stream_), "cuMemcpyDtoDAsync");
  complete();
  std::memset(host_, 0, bytes);
  cuda_->check(cuda_->copyDeviceToHost(host_, remote_, bytes, stream_), "cuMemcpyDtoHAsync");
  complete();
  for (size_t i = 0; i < bytes; i++) {
    if (host[i] != static_cast<unsigned char>(i * 131 + (i >> 8))) {
      throw std::runtime_error("GPU memory returned other bytes than were written, at offset " + std::to_string(i));
    }
  }
}

void GpuMover::post(Direction direction, uint64_t bytes) {
  const bool write = direction == Direction::kWrite;
  bool& withinDevice = withinDevice_[write ? 0 : 1];
  const bool within = std::exchange(withinDevice, !withinDevice);
  if (within) {
    cuda_->check(write ? cuda_->copyDeviceToDevice(remote_, local_, bytes, stream_)
                       : cuda_->copyDeviceToDevice(local_, remote_, bytes, stream_),
                 "cuMemcpyDtoDAsync");
  } else if (write) {
    cuda_->check(cuda_->copyHostToDevice(remote_, host_, bytes, stream_), "cuMemcpyHtoDAsync");
  } else {
    cuda_->check(cuda_->copyDeviceToHost(host_, remote_, bytes, stream_), "cuMemcpyDtoHAsync");
  }
}

void GpuMover::complete() { cuda_->check(cuda_->streamSynchronize(stream_), "cuStreamSynchronize"); }

}  // namespace nixl_otel::transfer_source
