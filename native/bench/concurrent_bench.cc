// A producer on one core and a consumer on another. Measures how much the consumer slows the producer down, and the
// throughput. The consumer is a plain pop loop like NIXL's, or the whole collector.
//
//   concurrent_bench RUNS
//
// Prints one JSON line per case, from which bench/concurrent.bench.mjs makes the table.

#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "bench.h"
#include "collector/collector.h"

using namespace nixl_otel;
using namespace nixl_otel::bench;

namespace {

constexpr uint64_t kBurst =
    4095;  // largest number of events that one flush of an agent can write into a ring of kSmall
constexpr uint64_t kBursts = 200;
constexpr uint64_t kSmall = 4096;
constexpr uint64_t kLarge = 65536;
constexpr double kSustainedNs = 400e6;
constexpr uint64_t kDrainIntervalNs = 1'000'000;

// Binds this thread to a core. Threads that it starts later inherit this.
void runOn(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu % static_cast<int>(std::max(1u, std::thread::hardware_concurrency())), &cpus);
  ::sched_setaffinity(0, sizeof cpus, &cpus);
}

// Returns the mean without the slowest twentieth, during which the kernel probably ran other work on this core.
double typical(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.resize(values.size() - values.size() / 20);
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct Producer {
  RingWriter writer;
  const std::vector<RingEvent> events = transferEvents();
  std::mt19937_64 random{1};
  size_t next = 0;

  bool push() {
    if (!writer.push(events[next])) return false;
    next = (next + 1) % events.size();
    return true;
  }
  void waitEmpty() {
    while (writer.pending() != 0) std::this_thread::yield();
  }
  // Pushes bursts into an empty ring, at random times between two drains. Returns nanoseconds per push.
  double pushNs(const std::function<void()>& empty) {
    std::vector<double> bursts;
    for (uint64_t i = 0; i < kBursts; ++i) {
      empty();
      const double beginsNs = nowNs() + static_cast<double>(random() % kDrainIntervalNs);
      while (nowNs() < beginsNs) {
      }
      const double begun = nowNs();
      for (uint64_t n = 0; n < kBurst; ++n) push();
      bursts.push_back((nowNs() - begun) / static_cast<double>(kBurst));
    }
    empty();
    return typical(std::move(bursts));
  }
  // Pushes as fast as the ring accepts events. Returns millions of events per second.
  double sustained() {
    const double begun = nowNs();
    uint64_t pushed = 0;
    double ns = 0;
    while (ns < kSustainedNs) {
      for (uint64_t n = 0; n < 1024; ++n) pushed += push();
      ns = nowNs() - begun;
    }
    waitEmpty();
    return static_cast<double>(pushed) * 1e3 / (nowNs() - begun);
  }
};

// Pops on a separate thread until it is destroyed.
class Popper {
 public:
  Popper(const std::string& path, const RingLayout& layout) : ring_(path, layout) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) sum_ = ring_.popAll();
    });
  }

 private:
  MappedRing ring_;
  volatile uint64_t sum_ = 0;
  std::jthread thread_;
};

// The collector as the consumer.
class Collecting {
 public:
  Collecting(const std::string& directory, std::chrono::milliseconds interval) {
    SourceOptions options;
    options.places = {{directory, ""}};
    options.drainInterval = interval;
    options.deadTtl = std::chrono::seconds(30);
    options.tally = tallyOptions();
    source_ = Collector::instance().open(options);
  }
  ~Collecting() { Collector::instance().close(source_); }

 private:
  std::shared_ptr<Source> source_;
};

struct Figures {
  double push;
  double sustained;
};

// `consume` starts the consumer. The destructor of the returned object ends it.
Figures measure(int32_t version, int runs,
                const std::function<std::shared_ptr<void>(const std::string&, bool)>& consume) {
  const auto medianOf = [&](uint64_t capacity, bool bursts) {
    const TemporaryDirectory directory;
    Producer producer;
    producer.writer.create(directory.path + "/ring", version, capacity);
    runOn(1);
    const std::shared_ptr<void> consumer = consume(directory.path, bursts);
    runOn(0);
    std::vector<double> values;
    for (int run = 0; run <= runs; ++run) {
      const double value = bursts ? producer.pushNs([&] { producer.waitEmpty(); }) : producer.sustained();
      if (run > 0) values.push_back(value);  // the first run only warms up
    }
    return median(values);
  };
  return {medianOf(kSmall, true), medianOf(kLarge, false)};
}

// Measures pushes without a concurrent consumer: the producer's thread empties the ring between the bursts.
double pushAlone(int32_t version, int runs) {
  const TemporaryDirectory directory;
  const std::string path = directory.path + "/ring";
  Producer producer;
  producer.writer.create(path, version, kSmall);
  MappedRing ring(path, producer.writer.layout());
  runOn(0);
  std::vector<double> values;
  for (int run = 0; run <= runs; ++run) {
    const double value = producer.pushNs([&] { ring.popAll(); });
    if (run > 0) values.push_back(value);
  }
  return median(values);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 7;
  for (const int32_t version : {4, 1}) {
    const double alone = pushAlone(version, runs);
    const Figures popped = measure(version, runs, [&](const std::string& directory, bool) {
      return std::make_shared<Popper>(directory + "/ring", *releasedLayout(version));
    });
    const Figures collected = measure(version, runs, [&](const std::string& directory, bool bursts) {
      // For bursts a shorter interval than the default, so that drains overlap bursts.
      return std::make_shared<Collecting>(directory, std::chrono::milliseconds(bursts ? 1 : 20));
    });
    std::printf(
        "{\"wireVersion\":%d,\"pushAloneNs\":%.3f,\"pushPoppedNs\":%.3f,\"pushCollectedNs\":%.3f,"
        "\"sustainedPopped\":%.3f,\"sustainedCollected\":%.3f}\n",
        version, alone, popped.push, collected.push, popped.sustained, collected.sustained);
    std::fflush(stdout);
  }
}
