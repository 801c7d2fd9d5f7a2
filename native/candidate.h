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
  static constexpr std::chrono::milliseconds kLongestPause{1000};

  std::string path;
  RingState state = RingState::kInitializing;
  std::string reason;
  Clock::time_point nextLook{};
  std::chrono::milliseconds pause{0};

  // Parked: a ring that was let go (its agent is dead, or nobody was ever seen behind an old, empty file). It holds no
  // descriptor and is opened again only when its header has changed. Most files in a directory end like this, where
  // agents are named by a fresh UUID.
  bool parked = false;
  FileId parkedFile;
  HeaderFields parkedHeader;
  timespec parkedChange{};     // its ctime
  bool writerMayLive = false;  // nobody was seen to write it: stores into a mapping show in the header only

  bool isNew() const { return pause.count() == 0 && !parked; }
  // Looked at a few times at most: an agent may be about to make a ring of it.
  bool isRecent() const { return pause < kLongestPause && !parked; }

  // Soon at first (an agent that is just starting), then ever more seldom (a file that is simply no ring).
  void waitLonger(Clock::time_point now) {
    constexpr std::chrono::milliseconds first{20};
    pause = std::clamp(pause * 2, first, kLongestPause);
    nextLook = now + pause;
  }

  // Whether something happened to a parked ring. Whoever comes back under a dead agent's name truncates the file first,
  // which its ctime shows.
  bool awoken() const {
    if (!writerMayLive) {
      struct stat info;
      return ::lstat(path.c_str(), &info) != 0 || parkedFile != FileId{info.st_dev, info.st_ino} ||
             info.st_ctim.tv_sec != parkedChange.tv_sec || info.st_ctim.tv_nsec != parkedChange.tv_nsec;
    }
    const HeaderFields now = peekHeader(path, parkedFile);
    const HeaderFields& then = parkedHeader;
    return now.state != RingState::kReady || now.version != then.version ||
           now.expectedVersion != then.expectedVersion || now.writePos != then.writePos ||
           now.readPos != then.readPos || now.capacity != then.capacity || now.fileSize != then.fileSize;
  }
};

}  // namespace nixl_otel
