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
// A file may have one writer. Therefore a writer refuses a file that another RingWriter holds, in this process or in
// another one (state() is kInUse), and stops once it finds that another program writes its ring (kOvertaken). It holds
// a lock of the open file description (F_OFD_SETLK) over the whole file, which does not meet a consumer's flock(). A
// child that inherits the writer by fork() inherits the lock; its pushes stop either itself or its parent.
//
// Thread safety: none. A writer may be used by one thread.
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
#include <ctime>
#include <string>
#include <utility>

#include "ring/ring_event.h"
#include "ring/ring_layout.h"

namespace nixl_otel {

enum class WriterState : uint8_t {
  kClosed,     // it has no ring
  kOpen,       // push() accepts events while the ring has room
  kInUse,      // create() or map() refused a file that another RingWriter holds
  kOvertaken,  // another program wrote the ring: push() refuses all events until create()
};

// kNone: takes no lock and does not notice another writer, as NIXL. For tests and for programs that imitate an agent.
enum class WriterLock : uint8_t { kNone, kHeld };

class RingWriter {
 public:
  explicit RingWriter(WriterLock lock = WriterLock::kHeld) : lock_(lock) {}
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
    state_ = WriterState::kClosed;
    if (!validCapacity(capacity)) {
      return "capacity " + std::to_string(capacity) + " is not a power of two from 2 to 16777216";
    }
    if (inStateFolder(path))
      return "cannot make a ring at " + path + ": consumers keep their state in " + kStateFolderName;
    int fd = -1;
    if (const std::string reason = openOwn(path, fd); !reason.empty()) {
      return "cannot open " + path + ": " + reason;
    }
    // Before the file is changed: it may be the ring of a writer that lives.
    if (lock_ == WriterLock::kHeld && !lockFile(fd)) {
      ::close(fd);
      state_ = WriterState::kInUse;
      return path +
             " is in use: another writer holds this ring. A ring has one writer; give each its own name or directory";
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
    if (problem != 0) {
      ::close(fd);
      return "cannot make a ring of " + std::to_string(bytes) + " bytes at " + path + ": " + std::strerror(problem);
    }
    // Kept for its lock: the mapping alone would hold it on tmpfs, but not on overlayfs.
    fd_ = fd;
    owner_ = ::getpid();
    state_ = WriterState::kOpen;
    base_ = static_cast<std::byte*>(base);
    bytes_ = bytes;
    layout_ = layout;
    capacity_ = capacity;
    return "";
  }

  bool open() const { return base_ != nullptr; }
  WriterState state() const { return state_; }
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

  // Writes an event. False if the ring is full: the event is dropped, as in NIXL. Also false if this writer has
  // stopped, see state().
  bool push(const RingEvent& event) {
    if (isOvertaken()) return false;
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
    if (base_ == nullptr) return;
    ::munmap(base_, bytes_);
    if (lock_ == WriterLock::kHeld && owner_ == ::getpid()) unlockFile(fd_);
    ::close(fd_);
    base_ = nullptr;
    if (state_ == WriterState::kOpen) state_ = WriterState::kClosed;
  }

 private:
  template <typename T>
  std::atomic_ref<T> field(uint32_t offset) const {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(base_ + offset));
  }

  // True if write_pos is not what this writer stored last: then another program writes the ring, and each store of a
  // position would look like up to a lap of events. (Two writers at the same position overwrite an event each time, and
  // count none too much.)
  bool isOvertaken() {
    // relaxed: only this writer stores the position, and a value of another writer guards no other access here.
    if (state_ == WriterState::kOpen && lock_ == WriterLock::kHeld &&
        field<uint64_t>(layout_.header.writePos).load(std::memory_order_relaxed) != writePos_) {
      state_ = WriterState::kOvertaken;
    }
    return state_ != WriterState::kOpen;
  }

  // Locks the file for as long as this descriptor is open. False if another writer holds it. True if the file system
  // has no such locks: then only isOvertaken() notices another writer.
  static bool lockFile(int fd) {
    // A process that has just been killed may hold the lock for a moment more, while another one reads its
    // /proc/PID/maps.
    for (int tries = 100; setLock(fd, F_WRLCK) != 0; --tries) {
      if (errno != EAGAIN && errno != EACCES) return true;
      if (tries == 0) return false;
      const timespec pause{0, 1'000'000};
      ::nanosleep(&pause, nullptr);
    }
    return true;
  }

  // Closing the descriptor does not suffice: a child of this process has it as well until its exec().
  static void unlockFile(int fd) { setLock(fd, F_UNLCK); }

  // Sets the lock of the open file description over the whole file. Returns -1 with errno if it cannot.
  static int setLock(int fd, short type) {
    constexpr int kSetLock = 37;  // F_OFD_SETLK, which older headers lack
    struct flock whole = {};
    whole.l_type = type;
    whole.l_whence = SEEK_SET;
    return ::fcntl(fd, kSetLock, &whole);
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

  const WriterLock lock_;
  WriterState state_ = WriterState::kClosed;
  int fd_ = -1;
  pid_t owner_ = 0;  // the process that made the ring; a fork of it must not unlock the file
  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
  RingLayout layout_{};
  uint64_t capacity_ = 0;
  uint64_t writePos_ = 0;
  uint64_t cachedReadPos_ = 0;
};

}  // namespace nixl_otel
