// Access to a mapped file that another process may truncate at any moment.
//
// An access to a page after the end of the file causes a SIGBUS, which would end the host process. If this happens
// inside a mapping on which the thread has a claim, the handler maps a page of zeros there and records the fault. The
// thread then repeats the instruction. The handler forwards every other SIGBUS to the previous handler.
//
// After a fault the mapping contains zeros instead of the file. The caller must unmap it and map the file again.
//
// A library that is loaded later may install another handler. HeaderMapping::map() and guardMappings() install this one
// again.

#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace nixl_otel {

// Installs the handler. Returns 0 or an errno.
int guardMappings();

// A mapping of a file's first bytes.
class HeaderMapping {
 public:
  HeaderMapping() = default;
  HeaderMapping(HeaderMapping&& other) noexcept { swap(other); }
  HeaderMapping& operator=(HeaderMapping&& other) noexcept {
    HeaderMapping(std::move(other)).swap(*this);
    return *this;
  }
  ~HeaderMapping() { unmap(); }

  // Replaces the mapping. Returns 0 or an errno.
  int map(int fd, size_t bytes, bool writable);
  void unmap();
  std::byte* base() const { return base_; }
  size_t bytes() const { return bytes_; }

 private:
  void swap(HeaderMapping& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
  }

  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
};

// Lets this thread access the mapping during the claim's lifetime. Claims nest: a fault counts for the innermost claim
// on its place.
class MappingClaim {
 public:
  explicit MappingClaim(const HeaderMapping& mapping) : MappingClaim(mapping.base(), mapping.bytes()) {}
  // Claims any other shared mapping of a file.
  //
  // Requires: guardMappings() was called.
  MappingClaim(const std::byte* base, size_t bytes);
  MappingClaim(const MappingClaim&) = delete;
  MappingClaim& operator=(const MappingClaim&) = delete;
  ~MappingClaim();

  // True after a fault: later loads returned zeros.
  bool faulted() const { return faulted_ != 0; }

  // For the handler.
  bool covers(uintptr_t place) const { return place >= begin_ && place < end_; }
  void noteFault() { faulted_ = 1; }
  MappingClaim* outer() const { return outer_; }

 private:
  const uintptr_t begin_;
  const uintptr_t end_;
  volatile sig_atomic_t faulted_ = 0;
  MappingClaim* const outer_;
};

}  // namespace nixl_otel
