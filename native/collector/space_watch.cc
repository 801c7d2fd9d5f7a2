#include "collector/space_watch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "state/state_folder.h"

namespace nixl_otel {
namespace {

using std::chrono::milliseconds;

// A look at a file takes 1 to 2 us. Names may change with each scan.
constexpr size_t kFilesPerSlice = 256;
constexpr milliseconds kAfterChange{1000};
constexpr milliseconds kWithoutChange{5000};

// An agent completes the header of its ring within milliseconds. An older file is one of an agent that could not.
constexpr double kLongestStartMs = 10'000;

}  // namespace

void SpaceWatch::look(const std::vector<std::shared_ptr<Source>>& sources, bool changed, Clock::time_point now,
                      const UseOf& useOf) {
  changed_ |= changed;
  if (!isRunning_ && (!isComplete_ || now - begun_ >= (changed_ ? kAfterChange : kWithoutChange))) begin(now);
  size_t left = kFilesPerSlice;
  while (isRunning_ && (left != 0 || !isComplete_)) {
    if (source_ >= sources.size()) {
      finish(sources);
    } else if (tree_ >= sources[source_]->trees().size()) {
      ++source_;
      tree_ = 0;
    } else if (file_ >= sources[source_]->trees()[tree_].files().size()) {
      places_[{source_, tree_}];  // also of a place without files
      ++tree_;
      file_ = 0;
    } else {
      add(sources[source_]->trees()[tree_].files()[file_++], useOf, places_[{source_, tree_}]);
      left -= left != 0;
    }
  }
}

void SpaceWatch::begin(Clock::time_point now) {
  begun_ = now;
  isRunning_ = true;
  changed_ = false;
  source_ = tree_ = file_ = 0;
  places_.clear();
  lackByDevice_.clear();
  lacking_.clear();
}

void SpaceWatch::add(const FoundFile& file, const UseOf& useOf, PlaceSpace& place) {
  struct stat info;
  if (file.problem != nullptr || ::lstat(file.path.c_str(), &info) != 0 || !hasSizeOfRing(info)) return;
  const uint64_t allocated = static_cast<uint64_t>(info.st_blocks) * kBlockBytes;
  RingUse use = useOf(file.path);
  const bool isYoung = wallClockMs() - toMs(info.st_ctim) < kLongestStartMs;
  if (use == RingUse::kStarts) use = isYoung ? RingUse::kLive : RingUse::kEnded;
  if (use == RingUse::kEnded) {
    ++place.ended;
    place.endedBytes += allocated;
    return;
  }
  ++place.live;
  place.liveBytes += allocated;
  place.ringBytes = std::max(place.ringBytes, static_cast<uint64_t>(info.st_size));
  const uint64_t lack = lackOf(info);
  if (lack != 0 && lacking_.insert({info.st_dev, info.st_ino}).second) lackByDevice_[info.st_dev] += lack;
}

void SpaceWatch::finish(const std::vector<std::shared_ptr<Source>>& sources) {
  isRunning_ = false;
  isComplete_ = true;
  for (auto& [at, place] : places_) {
    if (at.first >= sources.size() || at.second >= sources[at.first]->trees().size()) continue;
    const DirectoryTree& tree = sources[at.first]->trees()[at.second];
    const RingDirectory directory(tree.directory());
    if (directory.fd() < 0) continue;
    place.space = spaceOf(directory.fd());
    const auto lack = lackByDevice_.find(directory.id().device);
    place.lackBytes = lack == lackByDevice_.end() ? 0 : lack->second;
    std::string reason;
    for (const auto& [path, folder] : tree.folders()) {
      const auto state = folder.hasState ? StateFolder::find(RingDirectory(path), reason) : nullptr;
      if (state != nullptr) place.stateBytes += state->usedBytes();
    }
    sources[at.first]->noteSpace(at.second, place);
  }
  RingSpace::instance().noteLacks(lackByDevice_);
}

}  // namespace nixl_otel
