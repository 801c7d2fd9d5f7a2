// Reader with which a test drains a ring, and functions that store and load bytes of its file.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ring/ring_event.h"
#include "ring/ring_observer.h"
#include "ring/ring_reader.h"
#include "ring/ring_writer.h"

struct TestReader {
  explicit TestReader(const std::string& path) : reader(nixl_otel::RingReader::open(path, false, state, reason)) {}

  std::vector<nixl_otel::RingEvent> drain(uint64_t budget = UINT64_MAX) {
    std::vector<nixl_otel::RingEvent> events;
    if (reader == nullptr) return events;
    last = reader->drain(budget, buffer, [&](const nixl_otel::RingReader::Chunk& chunk) {
      for (uint32_t i = 0; i < chunk.count; ++i) {
        const std::byte* slot = chunk.slots + size_t{i} * chunk.layout.slot.size;
        events.push_back(nixl_otel::decodeSlot(chunk.layout.slot, slot));
      }
    });
    return events;
  }

  std::vector<uint64_t> values() {
    std::vector<uint64_t> found;
    for (const nixl_otel::RingEvent& event : drain()) found.push_back(event.value);
    return found;
  }

  nixl_otel::RingState state = nixl_otel::RingState::kAbsent;
  std::string reason;
  nixl_otel::DrainResult last;
  nixl_otel::ChunkBuffer buffer;
  std::unique_ptr<nixl_otel::RingReader> reader;
};

inline std::vector<nixl_otel::RingEvent> eventsOf(const nixl_otel::Observation& seen) {
  std::vector<nixl_otel::RingEvent> events;
  for (size_t at = 0; at < seen.slots.size(); at += seen.layout->slot.size) {
    events.push_back(nixl_otel::decodeSlot(seen.layout->slot, seen.slots.data() + at));
  }
  return events;
}

template <typename T>
void store(const std::string& path, off_t offset, T value) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (::pwrite(fd, &value, sizeof value, offset) != static_cast<ssize_t>(sizeof value)) std::abort();
  ::close(fd);
}

template <typename T>
T load(const std::string& path, off_t offset) {
  T value{};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (::pread(fd, &value, sizeof value, offset) != static_cast<ssize_t>(sizeof value)) std::abort();
  ::close(fd);
  return value;
}

// Pushes `count` events with rising values, and returns the values. Ends the program if the ring is full.
inline std::vector<uint64_t> push(nixl_otel::RingWriter& ring, uint64_t first, uint64_t count) {
  std::vector<uint64_t> pushed;
  for (uint64_t value = first; value < first + count; ++value) {
    nixl_otel::RingEvent event;
    event.value = value;
    if (!ring.push(event)) std::abort();
    pushed.push_back(value);
  }
  return pushed;
}
