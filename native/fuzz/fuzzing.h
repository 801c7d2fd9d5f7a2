// Shared parts of the fuzz targets: a file in memory, checks that end the run, and pauses that take no time.

#pragma once

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ring/ring_reader.h"
#include "tally/tally.h"

#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

namespace nixl_otel {

// Returns the path of a file of this process, on a memory file system if there is one.
inline const std::string& fuzzFile() {
  static const std::string path = [] {
    std::string name = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + std::string("/nixl-otel-fuzz-XXXXXX");
    const int fd = ::mkstemp(name.data());
    EXPECT(fd >= 0);
    ::close(fd);
    static std::string kept = name;
    std::atexit([] { ::unlink(kept.c_str()); });
    return name;
  }();
  return path;
}

inline void writeFile(const std::string& path, const uint8_t* data, size_t size) {
  const int fd = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  EXPECT(::write(fd, data, size) == static_cast<ssize_t>(size));
  ::close(fd);
}

inline std::vector<uint8_t> readFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  EXPECT(::fstat(fd, &info) == 0);
  std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
  EXPECT(::read(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  ::close(fd);
  return bytes;
}

// Returns a plan with NIXL's present events, and with so few bounds that inputs reach all buckets.
inline std::shared_ptr<const TallyPlan> fuzzPlan() {
  static const auto plan = [] {
    TallyOptions o;
    for (uint32_t type = 0; type < 21; ++type) {
      const int32_t category = type < 4 ? 1 : type < 6 ? 0 : type < 8 ? 5 : type < 20 ? 4 : 6;
      o.typeCategories.push_back(category);
    }
    o.typeNames = {{"agent_tx_bytes", 0}, {"agent_xfer_time", 6}};
    for (const int32_t category : o.typeCategories) {
      o.typeBounds.push_back(category == 5 ? 0 : category == 0 ? 1 : TallyOptions::kNoBounds);
    }
    o.bounds = {{10, 99.5, 1000, 1e9}, {100, 10'000}};
    o.rules = {{std::nullopt, "n*", std::nullopt, 1}, {30, std::nullopt, std::nullopt, 0}};
    o.sizeBounds = {100, 10'000};
    o.throughputBounds = {1e6, 1e9};
    return std::make_shared<const TallyPlan>(o);
  }();
  return plan;
}

inline uint64_t countOf(const Tally& tally) {
  uint64_t sum = 0;
  for (size_t i = 0; i < tally.events().size(); ++i) {
    const EventTally& event = tally.events()[i];
    sum += event.count;
    uint64_t inBuckets = 0;
    tally.eachCount(event, [&](size_t, uint64_t n) { inBuckets += n; });
    const HistogramStart* const start = tally.startOf(HistogramOf::kEvent, i);
    if (start != nullptr) inBuckets += start->count;
    EXPECT(inBuckets == (event.buckets == nullptr ? 0 : event.count));
  }
  EXPECT(tally.events().size() <= 21 + Tally::kMaxUnknownKeys + 1);
  return sum;
}

// Reads values from the input. Values beyond its end are 0.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  uint8_t byte() { return empty() ? uint8_t{0} : data_[at_++]; }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= uint64_t{byte()} << (8 * i);
    return value;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

}  // namespace nixl_otel

// Replace functions of the C library: pauses of the protocol end at once, and every run has the same marks.
extern "C" int nanosleep(const timespec*, timespec*) { return 0; }
extern "C" ssize_t getrandom(void* out, size_t size, unsigned) {
  std::memset(out, 7, size);
  return static_cast<ssize_t>(size);
}
