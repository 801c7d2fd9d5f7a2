// Rings that another consumer holds: how often a waiting collector looks at them, and how soon it takes them over.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "check.h"
#include "collector/candidate_list.h"
#include "posix/posix.h"
#include "ring/ring_file.h"
#include "ring/ring_writer.h"
#include "temporary_directory.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

// Time of one tick in which a waiting collector opens rings.
constexpr milliseconds kSlice{100};
// The longest time between two ticks of a waiting collector, at the default drain interval.
constexpr milliseconds kTick{40};

size_t openDescriptors() {
  size_t count = 0;
  DIR* const directory = ::opendir("/proc/self/fd");
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

// Rings whose locks consumers hold, and a list of candidates that waits for them.
class WaitingList {
 public:
  explicit WaitingList(size_t rings) {
    for (size_t i = 0; i < rings; ++i) {
      const std::string path = directory_ / ("agent-" + std::to_string(i));
      RingWriter ring;
      REQUIRE_EQ(ring.create(path, 4, 4), std::string());
      paths_.push_back(path);
      list_.add(path);
    }
  }

  void hold(size_t ring) {
    FileDescriptor fd(::open(paths_[ring].c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE_EQ(::flock(fd.get(), LOCK_EX | LOCK_NB), 0);
    held_.insert_or_assign(ring, std::move(fd));
  }
  void endConsumerOf(size_t ring) { held_.erase(ring); }
  // Ticks until so many rings are taken. A tick whose slice of time is used up leaves rings to the next one.
  void tickUntilTaken(size_t rings) {
    Clock::time_point begin{};
    do {
      REQUIRE(begin == Clock::time_point{} || Clock::now() - begin >= kSlice);
      begin = Clock::now();
      tick();
    } while (taken() < rings);
  }

  // Ticks until each ring has been tried, as at the start of a collector.
  void begin() {
    for (int i = 0; i < 10'000 && tried_ < paths_.size(); ++i) tick();
    tried_ = 0;
  }
  void tick(milliseconds sinceTheLast = kTick) {
    now_ += sinceTheLast;
    collectorThread.enter();
    list_.tryDue(now_, false, [this](Candidate& candidate) { tryOpen(candidate); });
    collectorThread.leave();
  }
  // Lets each opening of a ring take so long.
  void delayOpening(milliseconds time) { opening_ = time; }
  // Lets the next tries fail for a reason that is gone at the next one: an ended consumer frees a ring and its state
  // file one after the other.
  void failTries(size_t count) { failing_ = count; }
  size_t taken() const { return taken_.size(); }
  // Number of rings that were opened since begin(), or found to be busy.
  size_t tried() const { return tried_; }
  const std::string& path(size_t ring) const { return paths_[ring]; }

 private:
  void tryOpen(Candidate& candidate) {
    ++tried_;
    for (const auto begin = Clock::now(); Clock::now() - begin < opening_;) continue;
    if (failing_ > 0) {
      --failing_;
      candidate.state = RingState::kBusy;
      candidate.waitLonger(now_);
      return;
    }
    RingFile file = RingFile::open(candidate.path, RingAccess::kDrain, false);
    candidate.state = file.state;
    candidate.reason = file.reason;
    if (file.state == RingState::kReady) taken_.push_back(std::move(file));
    if (file.state != RingState::kReady) candidate.waitLonger(now_);
  }

  TemporaryDirectory directory_;
  std::vector<std::string> paths_;
  std::map<size_t, FileDescriptor> held_;
  std::vector<RingFile> taken_;
  CandidateList list_;
  Clock::time_point now_ = Clock::now();
  size_t tried_ = 0;
  milliseconds opening_{0};
  size_t failing_ = 0;
};

}  // namespace

TEST(takesAllRingsAtOnceAfterTheirConsumerEnded) {
  constexpr size_t kRings = 300;
  WaitingList waiting(kRings);
  for (size_t i = 0; i < kRings; ++i) waiting.hold(i);
  waiting.begin();
  const size_t descriptors = openDescriptors();
  for (int i = 0; i < 1000; ++i) waiting.tick();  // the pause between two tries of another file grows to a second
  CHECK_EQ(waiting.tried(), 0u);
  CHECK_EQ(waiting.taken(), 0u);
  CHECK_EQ(openDescriptors(), descriptors);
  for (size_t i = 0; i < kRings; ++i) waiting.endConsumerOf(i);
  waiting.tickUntilTaken(kRings);
  CHECK_EQ(waiting.taken(), kRings);
}

TEST(takesARingWhoseFirstTryAfterItsConsumerEndedFailed) {
  constexpr size_t kRings = 3;
  WaitingList waiting(kRings);
  for (size_t i = 0; i < kRings; ++i) waiting.hold(i);
  waiting.begin();
  waiting.tick();
  for (size_t i = 0; i < kRings; ++i) waiting.endConsumerOf(i);
  waiting.failTries(2);
  for (int i = 0; i < 100; ++i) waiting.tick();
  CHECK_EQ(waiting.taken(), kRings);
}

TEST(takesTheRingsOfTheConsumerThatEndedAndWaitsForTheOther) {
  constexpr size_t kRings = 100;
  WaitingList waiting(kRings);
  for (size_t i = 0; i < kRings; ++i) waiting.hold(i);
  waiting.begin();
  for (size_t i = 0; i < kRings; i += 2) waiting.endConsumerOf(i);
  waiting.tickUntilTaken(kRings / 2);
  CHECK_EQ(waiting.taken(), kRings / 2);
  CHECK_EQ(waiting.tried(), kRings / 2);
  for (size_t i = 1; i < kRings; i += 2) waiting.endConsumerOf(i);
  waiting.tickUntilTaken(kRings);
  CHECK_EQ(waiting.taken(), kRings);
}

TEST(looksAtEveryHeldRingInTurn) {
  constexpr size_t kRings = 300;
  WaitingList waiting(kRings);
  for (size_t i = 0; i < kRings; ++i) waiting.hold(i);
  waiting.begin();
  for (const size_t one : {299, 0, 150}) {
    const size_t before = waiting.taken();
    waiting.endConsumerOf(one);
    int ticks = 0;
    for (; waiting.taken() == before && ticks < 1000; ++ticks) waiting.tick();
    CHECK(ticks <= 10);
  }
  CHECK_EQ(waiting.tried(), 3u);
}

TEST(leavesRingsToTheNextTickOnceItsTimeIsUsedUp) {
  constexpr size_t kRings = 3;
  WaitingList waiting(kRings);
  for (size_t i = 0; i < kRings; ++i) waiting.hold(i);
  waiting.begin();
  waiting.delayOpening(kSlice);
  for (size_t i = 0; i < kRings; ++i) waiting.endConsumerOf(i);
  for (size_t ticks = 1; waiting.taken() < kRings; ++ticks) {
    waiting.tick();
    REQUIRE(waiting.taken() <= ticks);
  }
}

TEST(looksOnceInAnInterval) {
  WaitingList waiting(1);
  waiting.hold(0);
  waiting.begin();
  waiting.tick();
  waiting.endConsumerOf(0);
  for (int i = 0; i < 9; ++i) waiting.tick(milliseconds(2));  // at the shortest drain interval there are many ticks
  CHECK_EQ(waiting.taken(), 0u);
  waiting.tick(milliseconds(2));
  CHECK_EQ(waiting.taken(), 1u);
}

TEST(looksAtTheFileThatReplacedAHeldRing) {
  WaitingList waiting(1);
  waiting.hold(0);
  waiting.begin();
  waiting.tick();
  CHECK_EQ(waiting.taken(), 0u);
  ::unlink(waiting.path(0).c_str());
  RingWriter ring;
  REQUIRE_EQ(ring.create(waiting.path(0), 4, 4), std::string());
  waiting.tick();
  CHECK_EQ(waiting.taken(), 1u);
}

int main() { return check::run("held_rings_test"); }
