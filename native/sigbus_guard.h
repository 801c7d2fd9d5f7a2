// Access to a mapped file that another process may truncate at any moment.
//
// A load from a page after the end of the file is a SIGBUS, which would kill the host. While a thread has a claim on a
// mapping, the process-wide handler maps a page of zeros at a fault inside that mapping, records the fault, and repeats
// the instruction. It forwards every other SIGBUS to the previous handler.
//
// After a fault the mapping has zeros instead of the file: unmap it and map again.
//
// A library that is loaded later may install another handler. Each map() and guardMappings() reinstall this one.

#pragma once

#include <cstddef>
#include <cstdint>

namespace nixl_otel {

// Installs the handler. Returns 0 or an errno.
int guardMappings();

// A mapping of a file's first bytes.
class HeaderMapping {
 public:
  HeaderMapping() = default;
  HeaderMapping(HeaderMapping&& other) noexcept;
  HeaderMapping& operator=(HeaderMapping&& other) noexcept;
  ~HeaderMapping();

  // Replaces the mapping. Returns 0 or an errno.
  int map(int fd, size_t bytes, bool writable);
  void unmap();
  std::byte* base() const { return base_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
};

// Lets this thread access the mapping during the claim's lifetime. Claims do not nest.
class MappingClaim {
 public:
  explicit MappingClaim(const HeaderMapping& mapping) : MappingClaim(mapping.base(), mapping.bytes()) {}
  // For any other shared mapping of a file.
  //
  // Requires: guardMappings() was called.
  MappingClaim(const std::byte* base, size_t bytes);
  MappingClaim(const MappingClaim&) = delete;
  MappingClaim& operator=(const MappingClaim&) = delete;
  ~MappingClaim();

  // True after a fault: later loads returned zeros.
  bool faulted() const;
};

}  // namespace nixl_otel
