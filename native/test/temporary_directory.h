#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

// A directory that the destructor removes with its content.
struct TemporaryDirectory {
  std::string path;
  explicit TemporaryDirectory(const std::string& parent = "/tmp") {
    std::string name = parent + "/nixl-otel-native-XXXXXX";
    path = ::mkdtemp(name.data());
  }
  // On a memory file system if there is one: a disk takes milliseconds for each file that is replaced.
  static TemporaryDirectory inMemory() {
    return TemporaryDirectory(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
};

// Bytes of a ring, stored at literal offsets. Code with a wrong offset therefore reads wrong values.
class Image {
 public:
  explicit Image(size_t bytes, uint8_t fill = 0xA5) : bytes_(bytes, fill) {}

  // 40 bytes: wire versions 1 to 4.
  static Image headerA(int32_t version, uint64_t capacity, size_t slotBytes, uint64_t writePos, uint64_t readPos) {
    Image image(40 + capacity * slotBytes);
    return image.put(0, writePos)
        .put(8, readPos)
        .put(16, version)
        .put(20, version)
        .put(24, capacity)
        .put(32, capacity - 1);
  }
  // 512 bytes: draft 5.
  static Image headerB(uint64_t capacity, size_t slotBytes, uint64_t writePos, uint64_t readPos) {
    Image image(512 + capacity * slotBytes);
    image.put(0, writePos).put(8, capacity).put(16, int32_t{5}).put(20, int32_t{5}).put(24, capacity - 1);
    return image.put(256, readPos);
  }

  template <typename T>
  Image& put(size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }
  Image& text(size_t offset, const char* text) {
    std::memcpy(bytes_.data() + offset, text, std::strlen(text) + 1);
    return *this;
  }
  Image& resize(size_t bytes) {
    bytes_.resize(bytes);
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

  const Image& writeTo(const std::string& path) const {
    const int fd = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    const ssize_t done = ::write(fd, bytes_.data(), bytes_.size());
    ::close(fd);
    if (done != static_cast<ssize_t>(bytes_.size())) std::abort();
    return *this;
  }

 private:
  std::vector<uint8_t> bytes_;
};
