// The mutex of the collector and of its agents: the order of waiting threads, and waits with a time limit.

#include "sync/fair_mutex.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

using namespace nixl_otel;
using Clock = std::chrono::steady_clock;

namespace {

// A thread that waits for the mutex, appends its name to `order` with the mutex held, and releases the mutex. The
// constructor returns when the thread waits.
class WaitingThread {
 public:
  WaitingThread(FairMutex& mutex, int name, std::vector<int>& order)
      : thread_([this, &mutex, name, &order] {
          id_ = static_cast<pid_t>(::syscall(SYS_gettid));
          const std::lock_guard lock(mutex);
          order.push_back(name);
        }) {
    while (!isAsleep()) std::this_thread::yield();
  }
  ~WaitingThread() { thread_.join(); }

 private:
  bool isAsleep() const {
    std::ifstream file("/proc/self/task/" + std::to_string(id_) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    return id_ != 0 && text.find(") S ") != std::string::npos;
  }

  std::atomic<pid_t> id_{0};
  std::thread thread_;
};

}  // namespace

// The collector's thread does the same with a ring that is never empty.
TEST(servesWaitingThreadsBeforeRelock) {
  for (int i = 0; i < 100; ++i) {
    FairMutex mutex;
    std::vector<int> order;
    mutex.lock();
    {
      const WaitingThread first(mutex, 1, order);
      const WaitingThread second(mutex, 2, order);
      mutex.unlock();
      mutex.lock();
      order.push_back(3);
      mutex.unlock();
    }
    CHECK(order == (std::vector<int>{1, 2, 3}));
  }
}

TEST(removesWaiterThatTimedOut) {
  FairMutex mutex;
  mutex.lock();
  std::thread([&] { CHECK(!mutex.try_lock_until(Clock::now() + std::chrono::milliseconds(1))); }).join();
  mutex.unlock();
  CHECK(mutex.try_lock_until(Clock::now()));
  mutex.unlock();
}

TEST(excludesOtherThreadsWhileWaitsTimeOut) {
  FairMutex mutex;
  uint64_t plain = 0;
  std::atomic<uint64_t> held{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 5000; ++turn) {
        if (i % 2 == 0) {
          mutex.lock();
        } else if (!mutex.try_lock_until(Clock::now() + std::chrono::microseconds(turn % 50))) {
          continue;
        }
        ++plain;
        ++held;
        mutex.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(plain, held.load());
  CHECK(plain >= 10'000);
}

int main() { return check::run("fair_mutex_test"); }
