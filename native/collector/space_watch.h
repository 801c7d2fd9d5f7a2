// Looks at the files of all places, for the space that agents have and may yet take.
//
// Thread safety: the collector's thread, which holds collectorMutex.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/collector_locks.h"
#include "collector/source.h"
#include "posix/posix.h"
#include "ring/space.h"

namespace nixl_otel {

// What a look needs to know of the file at a path.
enum class RingUse : uint8_t {
  kLive,    // its agent lives, or may live
  kEnded,   // its agent has ended, or never began
  kStarts,  // its header is not complete: an agent is starting, or died while it was
};

class SpaceWatch {
 public:
  using UseOf = std::function<RingUse(const std::string& path)>;

  // Goes on with the look at the files, for a short time, and begins the next one in time. `changed`: names were added
  // or removed. The first look is complete on return: state must not take what rings lack that were there before.
  void look(const std::vector<std::shared_ptr<Source>>& sources, bool changed, Clock::time_point now,
            const UseOf& useOf) REQUIRES(collectorThread, collectorMutex);
  void clear() { *this = SpaceWatch(); }

 private:
  void begin(Clock::time_point now);
  void add(const FoundFile& file, const UseOf& useOf, PlaceSpace& place);
  void finish(const std::vector<std::shared_ptr<Source>>& sources) REQUIRES(collectorMutex);

  bool isRunning_ = false;
  bool isComplete_ = false;  // there was a complete look
  bool changed_ = false;     // since the begin of the last look
  Clock::time_point begun_{};
  size_t source_ = 0;  // place of the next file: indices of a source, a tree and a file
  size_t tree_ = 0;
  size_t file_ = 0;
  std::map<std::pair<size_t, size_t>, PlaceSpace> places_;  // by source and tree
  std::map<dev_t, uint64_t> lackByDevice_;
  std::set<FileId> lacking_;  // a file may lie in two places
};

}  // namespace nixl_otel
