// The producer's side of a ring: for tests, demos, and C++ programs that publish events without NIXL. Needs C++20 and
// these headers only: ring_writer.h, ring_event.h, ring_layout.h.
//
//   nixl_otel::RingWriter ring;
//   std::string error = ring.create("/run/nixl/my-service", 1, 4096);   // "" on success
//   nixl_otel::RingEvent event;
//   event.category = nixl_otel::kCustom;
//   event.setName("cache_hits");
//   event.value = 17;
//   if (!ring.push(event)) { /* the ring is full: its consumer is too slow, or there is none */ }
//
// Like an agent, a writer reuses an existing file: it rebuilds the header in place, and pending events are lost. Unlike
// an agent, it changes only regular files of the process's user, and follows no link.
//
// Thread safety: none. A file may have one writer, and a writer may be used by one thread.
//
// If another process truncates the mapped file, the next access causes a SIGBUS. To survive it, call map() and begin()
// instead of create(), and hold a MappingClaim (sigbus_guard.h) of memory() and bytes() during begin() and later calls.

#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "ring_event.h"
#include "ring_layout.h"

namespace nixl_otel {

class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;
  ~RingWriter() { close(); }

  // Returns "" or an error message.
  template <typename VersionOrLayout>
  std::string create(const std::string& path, const VersionOrLayout& layout, uint64_t capacity) {
    const std::string problem = map(path, layout, capacity);
    if (problem.empty()) begin();
    return problem;
  }

  // Maps the file as create() does, but does not access the mapping yet. Returns "" or an error message.
  std::string map(const std::string& path, int32_t version, uint64_t capacity) {
    const RingLayout* layout = releasedLayout(version);
    if (layout == nullptr) return "wire version " + std::to_string(version) + " is unknown: use " + knownVersions();
    return map(path, *layout, capacity);
  }

  std::string map(const std::string& path, const RingLayout& layout, uint64_t capacity) {
    if (base_ != nullptr) return "this writer has a ring already";
    if (!validCapacity(capacity)) {
      return "capacity " + std::to_string(capacity) + " is not a power of two from 2 to 16777216";
    }
    if (inStateFolder(path))
      return "cannot make a ring at " + path + ": consumers keep their state in " + kStateFolderName;
    int fd = -1;
    if (const std::string reason = openOwn(path, fd); !reason.empty()) {
      return "cannot open " + path + ": " + reason;
    }
    const uint64_t bytes = layout.fileSize(capacity);
    void* base = MAP_FAILED;
    int problem = 0;
    if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
      problem = errno;
    } else if ((problem = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes))) != 0) {
      // posix_fallocate allocates blocks: without them, a store into the mapping causes a SIGBUS if the disk is full.
      if (problem == EOPNOTSUPP || problem == EINVAL) problem = 0;
    }
    if (problem == 0) {
      base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (base == MAP_FAILED) problem = errno;
    }
    ::close(fd);
    if (problem != 0)
      return "cannot make a ring of " + std::to_string(bytes) + " bytes at " + path + ": " + std::strerror(problem);
    base_ = static_cast<std::byte*>(base);
    bytes_ = bytes;
    layout_ = layout;
    capacity_ = capacity;
    return "";
  }

  bool open() const { return base_ != nullptr; }
  std::byte* memory() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t capacity() const { return capacity_; }
  const RingLayout& layout() const { return layout_; }

  // Builds the header with stores in the order of NIXL's source code. (NIXL's compiler may reorder its plain stores; a
  // consumer handles all orders.)
  void begin() {
    const HeaderLayout& h = layout_.header;
    field<int32_t>(h.version).store(0, std::memory_order_relaxed);
    field<int32_t>(h.expectedVersion).store(0, std::memory_order_relaxed);
    field<uint64_t>(h.capacity).store(capacity_, std::memory_order_relaxed);
    field<uint64_t>(h.mask).store(capacity_ - 1, std::memory_order_relaxed);
    field<uint64_t>(h.writePos).store(0, std::memory_order_relaxed);
    field<uint64_t>(h.readPos).store(0, std::memory_order_relaxed);
    // release pairs with a consumer's acquire load of the version: the fields above are then visible.
    field<int32_t>(h.version).store(layout_.version, std::memory_order_release);
    field<int32_t>(h.expectedVersion).store(layout_.version, std::memory_order_release);
    writePos_ = 0;
    cachedReadPos_ = 0;
  }

  // Writes an event. False if the ring is full: the event is dropped, as in NIXL.
  bool push(const RingEvent& event) {
    const uint64_t next = (writePos_ + 1) & (capacity_ - 1);
    if (next == cachedReadPos_) {
      // acquire pairs with the consumer's release store of read_pos: it has read the slots before read_pos.
      cachedReadPos_ = field<uint64_t>(layout_.header.readPos).load(std::memory_order_acquire);
      if (next == cachedReadPos_) return false;
    }
    encodeSlot(layout_.slot, base_ + layout_.slotOffset(writePos_), event);
    writePos_ = next;
    // release pairs with the consumer's acquire load of write_pos: the slot is then whole.
    field<uint64_t>(layout_.header.writePos).store(next, std::memory_order_release);
    return true;
  }

  // Returns the number of events in the ring that no consumer has taken.
  uint64_t pending() const {
    const uint64_t read = field<uint64_t>(layout_.header.readPos).load(std::memory_order_acquire);
    return (writePos_ - read) & (capacity_ - 1);
  }

  // Unmaps the file. Does not delete it, as an agent does not.
  void close() {
    if (base_ != nullptr) ::munmap(base_, bytes_);
    base_ = nullptr;
  }

 private:
  template <typename T>
  std::atomic_ref<T> field(uint32_t offset) const {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(base_ + offset));
  }

  // Opens or creates the file, and checks it before it is changed: another user of the directory may have created any
  // kind of file there. Returns "" or an error message.
  static std::string openOwn(const std::string& path, int& fd) {
    // O_NONBLOCK and O_NOCTTY: for a fifo and a terminal. 0644, as in NIXL: other users can observe, this user can
    // drain.
    fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
    struct stat file;
    if (fd < 0) {
      const int problem = errno;
      const std::string reason = ::lstat(path.c_str(), &file) == 0 ? problemWith(file) : "";
      return reason.empty() ? std::strerror(problem) : reason;
    }
    const std::string reason = ::fstat(fd, &file) == 0 ? problemWith(file) : std::strerror(errno);
    if (!reason.empty()) ::close(fd);
    return reason;
  }

  // Returns the reason why this process must not write the file, or "".
  static std::string problemWith(const struct stat& file) {
    if (S_ISLNK(file.st_mode)) return "it is a symbolic link, which is not followed";
    if (!S_ISREG(file.st_mode)) return "it is not a regular file";
    if (file.st_uid == ::geteuid()) return "";
    return "it belongs to user " + std::to_string(file.st_uid) + ", but this process writes only files of its user " +
           std::to_string(::geteuid());
  }

  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
  RingLayout layout_{};
  uint64_t capacity_ = 0;
  uint64_t writePos_ = 0;
  uint64_t cachedReadPos_ = 0;
};

}  // namespace nixl_otel
