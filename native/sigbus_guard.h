// Touching a mapped file that another process may truncate at any moment.
//
// A load from a page behind the end of the file is a SIGBUS, which would kill the host. While a thread has a claim on a
// mapping, the process-wide handler puts a page of zeros under a fault inside that mapping, notes it, and lets the
// instruction run again. Every other SIGBUS is handed on to whoever was there before.
//
// After a fault the mapping shows zeros, not the file: throw it away and map again.
//
// A library that is loaded later may put a handler of its own over this one. Each mapping puts ours back, and so does
// guardMappings().

#pragma once

#include <cstddef>
#include <cstdint>

namespace nixl_otel {

// Returns 0 or an errno.
int guardMappings();

// A mapping of a file's first bytes.
class HeaderMapping {
 public:
  HeaderMapping() = default;
  HeaderMapping(HeaderMapping&& other) noexcept;
  HeaderMapping& operator=(HeaderMapping&& other) noexcept;
  ~HeaderMapping();

  // Returns 0 or an errno. Any mapping that was here before is given back.
  int map(int fd, size_t bytes, bool writable);
  void unmap();
  std::byte* base() const { return base_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
};

// While one lives, this thread may touch the mapping. Claims do not nest.
class MappingClaim {
 public:
  explicit MappingClaim(const HeaderMapping& mapping) : MappingClaim(mapping.base(), mapping.bytes()) {}
  // Any other shared mapping of a file, after guardMappings().
  MappingClaim(const std::byte* base, size_t bytes);
  MappingClaim(const MappingClaim&) = delete;
  MappingClaim& operator=(const MappingClaim&) = delete;
  ~MappingClaim();

  // True once a touch went wrong: what was read since is zeros.
  bool faulted() const;
};

}  // namespace nixl_otel
