// A file that might be, or become, a ring: when to look at it again, and what it looked like the last time.

#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "ring_file.h"

namespace nixl_otel {

struct Candidate {
  using Clock = std::chrono::steady_clock;

  std::string path;
  RingState state = RingState::kInitializing;
  std::string reason;
  Clock::time_point nextLook{};
  std::chrono::milliseconds pause{0};

  // Parked: a ring that was let go (its agent is dead, or nobody was ever seen behind an old, empty file). It holds no
  // descriptor and is opened again only when its header has changed. Most files in a directory end like this, where
  // agents are named by a fresh UUID.
  bool parked = false;
  HeaderFields parkedHeader;

  // Soon at first (an agent that is just starting), then ever more seldom (a file that is simply no ring).
  void waitLonger(Clock::time_point now) {
    constexpr std::chrono::milliseconds first{20};
    constexpr std::chrono::milliseconds most{1000};
    pause = std::clamp(pause * 2, first, most);
    nextLook = now + pause;
  }

  bool headerChanged(const HeaderFields& now) const {
    const HeaderFields& then = parkedHeader;
    return now.version != then.version || now.expectedVersion != then.expectedVersion ||
           now.writePos != then.writePos || now.readPos != then.readPos || now.capacity != then.capacity ||
           now.fileSize != then.fileSize;
  }
};

}  // namespace nixl_otel
