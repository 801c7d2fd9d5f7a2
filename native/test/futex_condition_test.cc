// The condition variable of the prebuilt binaries.

#include "prebuild/futex_condition.h"

#include <chrono>
#include <thread>

#include "check.h"

using namespace nixl_otel;

namespace {

struct Turns {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  futex_condition::Word changed = 0;
  int done = 0;
};

timespec in(clockid_t clock, int64_t ms) {
  timespec time;
  ::clock_gettime(clock, &time);
  const int64_t ns = time.tv_nsec + ms * 1'000'000;
  return {time.tv_sec + ns / 1'000'000'000, static_cast<long>(ns % 1'000'000'000)};
}

bool isPast(clockid_t clock, const timespec& deadline) {
  timespec now;
  ::clock_gettime(clock, &now);
  return now.tv_sec > deadline.tv_sec || (now.tv_sec == deadline.tv_sec && now.tv_nsec >= deadline.tv_nsec);
}

}  // namespace

TEST(losesNoWakeUpOfThreadsThatTakeTurns) {
  constexpr int kThreads = 3;
  constexpr int kTurns = 3'000;
  Turns turns;
  const auto takeTurns = [&](int index) {
    for (int turn = index; turn < kTurns; turn += kThreads) {
      ::pthread_mutex_lock(&turns.mutex);
      while (turns.done != turn) futex_condition::wait(&turns.changed, &turns.mutex, CLOCK_MONOTONIC, nullptr);
      turns.done += 1;
      ::pthread_mutex_unlock(&turns.mutex);
      futex_condition::wake(&turns.changed);  // without the mutex, which is the harder case
    }
  };
  std::thread others[] = {std::thread(takeTurns, 1), std::thread(takeTurns, 2)};
  takeTurns(0);
  for (auto& other : others) other.join();
  CHECK_EQ(turns.done, kTurns);
}

TEST(timesOutByTheGivenClock) {
  for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_REALTIME}) {
    Turns turns;
    ::pthread_mutex_lock(&turns.mutex);
    const timespec deadline = in(clock, 20);
    int result = 0;
    int wakeUps = 0;
    for (; result == 0; ++wakeUps) result = futex_condition::wait(&turns.changed, &turns.mutex, clock, &deadline);
    CHECK_EQ(result, ETIMEDOUT);
    CHECK(isPast(clock, deadline));
    CHECK(wakeUps < 5);  // one wait, and perhaps signals
    CHECK_EQ(::pthread_mutex_trylock(&turns.mutex), EBUSY);
    ::pthread_mutex_unlock(&turns.mutex);
  }
}

TEST(returnsAtOnceForPastDeadline) {
  Turns turns;
  ::pthread_mutex_lock(&turns.mutex);
  const timespec deadline = in(CLOCK_MONOTONIC, 0);
  CHECK_EQ(futex_condition::wait(&turns.changed, &turns.mutex, CLOCK_MONOTONIC, &deadline), ETIMEDOUT);
  ::pthread_mutex_unlock(&turns.mutex);
}

int main() { return check::run("futex_condition_test"); }
