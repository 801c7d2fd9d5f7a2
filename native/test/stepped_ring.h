// A real ring that calls a test's hook before each access of a drain.

#pragma once

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "ring/drain_protocol.h"
#include "ring/ring_reader.h"
#include "temporary_directory.h"
#include "test_reader.h"

enum class Access { kInspect, kVersion, kMark, kWritePos, kReadPos, kSwapMark, kSwapReadPos, kSlots, kPause };

class SteppedRing {
 public:
  explicit SteppedRing(nixl_otel::RingReader& reader) : reader_(reader) {}
  std::function<void(Access)> before = [](Access) {};

  nixl_otel::HeaderPeek inspect() { return at(Access::kInspect).inspect(); }
  int32_t loadVersion() { return at(Access::kVersion).loadVersion(); }
  int32_t loadMark() { return at(Access::kMark).loadMark(); }
  uint64_t loadWritePos() { return at(Access::kWritePos).loadWritePos(); }
  uint64_t loadReadPos() { return at(Access::kReadPos).loadReadPos(); }
  bool swapMark(int32_t from, int32_t to) { return at(Access::kSwapMark).swapMark(from, to); }
  bool swapReadPos(uint64_t from, uint64_t to) { return at(Access::kSwapReadPos).swapReadPos(from, to); }
  uint32_t readSlots(uint64_t position, uint32_t count, std::byte* out) {
    return at(Access::kSlots).readSlots(position, count, out);
  }
  void noteTime() { reader_.noteTime(); }
  bool pausedSinceNote() { return reader_.pausedSinceNote(); }
  bool pauseForRebuild(bool mayReturn) { return at(Access::kPause).pauseForRebuild(mayReturn); }

 private:
  nixl_otel::RingReader& at(Access access) {
    before(access);
    return reader_;
  }
  nixl_otel::RingReader& reader_;
};

// Journal of a consumer without state that calls `sink(slots, count, gapAfter)` for each chunk.
template <typename Sink>
class ChunkJournal {
 public:
  explicit ChunkJournal(Sink sink) : sink_(sink) {}
  void commit(const std::byte* slots, uint32_t count, bool, bool gapAfter, const nixl_otel::DrainRecord&) {
    sink_(slots, count, gapAfter);
  }
  void commit(const nixl_otel::DrainRecord&) {}
  void rest(const nixl_otel::DrainRecord&) {}

 private:
  Sink sink_;
};

// A ring of an agent, attached by a protocol whose drains call the hook.
struct SteppedDrain {
  explicit SteppedDrain(uint64_t capacity) : opened(createRing(capacity)), ring(*opened.reader) {
    if (!protocol.attach(ring, ring.inspect(), capacity, 1)) std::abort();
    while (drain() == nixl_otel::DrainOutcome::kSettling) {
    }
  }
  nixl_otel::DrainOutcome drain(bool mayPause = true) {
    ChunkJournal journal([&](const std::byte*, uint32_t n, bool gapAfter) {
      count += n;
      if (gapAfter) gapsAfter.push_back(count);
    });
    return protocol.drain(ring, opened.reader->capacity(), opened.buffer.data(), journal, mayPause);
  }
  const TemporaryDirectory directory;
  const std::string path = directory / "agent";
  nixl_otel::RingWriter writer;
  TestReader opened;
  SteppedRing ring;
  nixl_otel::DrainProtocol<SteppedRing> protocol;
  uint64_t count = 0;
  std::vector<uint64_t> gapsAfter;  // number of events before each gapAfter

 private:
  const std::string& createRing(uint64_t capacity) {
    if (!writer.create(path, 4, capacity).empty()) std::abort();
    return path;
  }
};
