// A file that might be, or become, a ring: when to look at it again, and what it looked like the last time.

#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "ring_file.h"

namespace nixl_otel {

struct Candidate {
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kLongestPause{1000};

  std::string path;
  RingState state = RingState::kInitializing;
  std::string reason;
  Clock::time_point nextLook{};
  std::chrono::milliseconds pause{0};

  // Parked: a ring that was let go, empty (its agent is dead, or nobody was ever seen behind an old, empty file). It
  // holds no descriptor and is opened again only when its header or its ctime has changed. Most files in a directory
  // end like this, where agents are named by a fresh UUID.
  bool parked = false;
  FileId parkedFile;
  HeaderFields parkedHeader;

  bool isNew() const { return pause.count() == 0 && !parked; }
  // Looked at a few times at most: an agent may be about to make a ring of it.
  bool isRecent() const { return pause < kLongestPause && !parked; }

  // Soon at first (an agent that is just starting), then ever more seldom (a file that is simply no ring).
  void waitLonger(Clock::time_point now) {
    constexpr std::chrono::milliseconds first{20};
    pause = std::clamp(pause * 2, first, kLongestPause);
    nextLook = now + pause;
  }

  // Whether something happened to a parked ring. Its ctime alone does not say: stores into a mapping need not show
  // there, and an agent that comes back may have truncated the file before it was parked, and rebuild the header only
  // later. The header alone does not, either: an agent that comes back and is idle may leave what was there before.
  bool awoken() const {
    const HeaderFields now = peekHeader(path, parkedFile);
    const HeaderFields& then = parkedHeader;
    return now.state != RingState::kReady || now.version != then.version ||
           now.expectedVersion != then.expectedVersion || now.writePos != then.writePos ||
           now.readPos != then.readPos || now.capacity != then.capacity || now.fileSize != then.fileSize ||
           now.changed.tv_sec != then.changed.tv_sec || now.changed.tv_nsec != then.changed.tv_nsec;
  }
};

}  // namespace nixl_otel
