// The time between two flushes follows from the times of the drains that found events.
#include "ring/flush_rhythm.h"

#include "check.h"

using namespace nixl_otel;
using std::chrono::milliseconds;

namespace {

// Drains every 20 ms. Notes events at each of these times after the begin.
class Drains {
 public:
  void until(milliseconds end, milliseconds flush) {
    for (; at_ < end; at_ += milliseconds(20)) rhythm.note(at_ % flush == milliseconds(0), begin_ + at_);
  }
  FlushRhythm rhythm;

 private:
  const Clock::time_point begin_ = Clock::now();
  milliseconds at_{0};
};

}  // namespace

TEST(learnsIntervalFromThreeFlushes) {
  Drains drains;
  drains.until(milliseconds(60'000 * 3), milliseconds(60'000));
  CHECK(drains.rhythm.interval() == Clock::duration(0));  // two times between three flushes
  drains.until(milliseconds(60'000 * 3 + 20), milliseconds(60'000));
  CHECK(drains.rhythm.interval() == milliseconds(60'000));
}

TEST(trustsTheSettingUntilItLearns) {
  Drains drains;
  drains.rhythm.expect(milliseconds(30'000));
  drains.until(milliseconds(60'000 * 3), milliseconds(60'000));
  CHECK(drains.rhythm.interval() == milliseconds(30'000));
  drains.until(milliseconds(60'000 * 3 + 20), milliseconds(60'000));
  CHECK(drains.rhythm.interval() == milliseconds(60'000));
}

TEST(learnsNothingWithoutPauses) {
  Drains drains;
  drains.until(milliseconds(10'000), milliseconds(20));
  CHECK(drains.rhythm.interval() == Clock::duration(0));
}

TEST(ignoresPausesWithoutWorkAndOneDividedFlush) {
  FlushRhythm rhythm;
  const Clock::time_point begin = Clock::now();
  for (const int ms : {0, 100, 200, 300, 340, 400, 30'400, 30'500}) {
    rhythm.note(true, begin + milliseconds(ms));
    rhythm.note(false, begin + milliseconds(ms + 20));
  }
  CHECK(rhythm.interval() == milliseconds(60));  // 40 and 60 ms are parts of one
  for (int ms = 60'000; ms < 60'800; ms += 100) {
    rhythm.note(true, begin + milliseconds(ms));
    rhythm.note(false, begin + milliseconds(ms + 20));
  }
  CHECK(rhythm.interval() == milliseconds(100));
}

int main() { return check::run("flush_rhythm_test"); }
