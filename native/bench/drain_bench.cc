// Nanoseconds per event from the ring to the tally. The references are a memcpy of the same bytes and a plain pop loop
// over the same ring. Prints one JSON line per case, from which bench/drain.bench.mjs makes the table.

#include "bench.h"
#include "ring/ring_reader.h"
#include "test/wire_versions.h"

using namespace nixl_otel;
using namespace nixl_otel::bench;

namespace {

int runs = 9;
uint64_t eventsPerRun = 1'500'000;

struct Case {
  int32_t version;
  uint64_t capacity;
  uint64_t batch;  // number of events in the ring at the drain
  bool cold;       // other data fills the caches before the drain
};

// Fills the caches with other data.
class CacheSweep {
 public:
  CacheSweep() : bytes_(64 << 20) {}
  void run() {
    for (size_t i = 0; i < bytes_.size(); i += 64) bytes_[i]++;
  }

 private:
  std::vector<uint8_t> bytes_;
};

struct Figures {
  double memcpyNs;
  double popNs;
  double drainNs;  // drain without a tally
  double tallyNs;  // drain and tally
};

volatile uint64_t usedResult;

Figures measure(const Case& c, const std::string& directory) {
  const std::string path = directory + "/ring";
  static const std::vector<RingEvent> events = transferEvents();
  static CacheSweep sweep;
  RingWriter writer;
  writer.create(path, c.version, c.capacity);
  const RingLayout layout = writer.layout();
  size_t next = 0;
  const auto fill = [&] {
    for (uint64_t i = 0; i < c.batch; ++i) {
      writer.push(events[next]);
      next = (next + 1) % events.size();
    }
    if (c.cold) sweep.run();
  };
  const uint64_t rounds = std::max<uint64_t>(1, (c.cold ? eventsPerRun / 16 : eventsPerRun) / c.batch);
  // Returns nanoseconds per event of `work`. `rest` then empties the ring.
  const auto perEvent = [&](auto&& work, auto&& rest) {
    std::vector<double> figures;
    for (int run = 0; run <= runs; ++run) {
      double ns = 0;
      for (uint64_t i = 0; i < rounds; ++i) {
        fill();
        const double begin = nowNs();
        work();
        ns += nowNs() - begin;
        rest();
      }
      if (run > 0) figures.push_back(ns / static_cast<double>(rounds * c.batch));  // the first run only warms up
    }
    return median(figures);
  };

  const auto nothing = [] {};
  Figures figures{};
  {
    MappedRing mapped(path, layout);
    const auto popRing = [&] { usedResult = mapped.popAll(); };
    figures.popNs = perEvent(popRing, nothing);
    std::vector<std::byte> copy(c.batch * layout.slot.size);
    const auto copyRing = [&] {
      std::memcpy(copy.data(), mapped.slots(), copy.size());
      usedResult = static_cast<uint64_t>(copy.back());
    };
    figures.memcpyNs = perEvent(copyRing, popRing);
  }
  RingState state;
  std::string reason;
  const auto reader = RingReader::open(path, false, state, reason);
  if (reader == nullptr) {
    std::fprintf(stderr, "drain_bench: %s\n", reason.c_str());
    std::exit(1);
  }
  ChunkBuffer buffer;
  // The first drain waits until the ring has settled. Later drains are like those of the collector.
  reader->drain(c.capacity, buffer, [](const RingReader::Chunk&) {});
  const auto drain = [&](const RingReader::Sink& sink) {
    if (reader->drain(c.capacity, buffer, sink, PausePolicy::kForRecovery).events == c.batch) return;
    std::fprintf(stderr, "drain_bench: the ring was not drained\n");
    std::exit(1);
  };
  figures.drainNs = perEvent([&] { drain([](const RingReader::Chunk& chunk) { usedResult = chunk.count; }); }, nothing);
  Tally tally(std::make_shared<const TallyPlan>(tallyOptions()));
  std::vector<TappedEvent> tapped;
  figures.tallyNs =
      perEvent([&] { drain([&](const RingReader::Chunk& chunk) { tally.fold(chunk, {}, tapped); }); }, nothing);
  return figures;
}

}  // namespace

// --quick: only checks that the bench works. The figures mean nothing.
int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--quick") {
    runs = 1;
    eventsPerRun = 50'000;
  }
  const TemporaryDirectory directory;
  std::vector<Case> cases;
  for (const int32_t version : wireVersions()) cases.push_back({version, 4096, 4095, false});
  for (const uint64_t capacity : {256, 65536, 1 << 20}) cases.push_back({4, capacity, capacity - 1, false});
  for (const uint64_t batch : {15, 250, 1000}) cases.push_back({4, 4096, batch, false});
  cases.push_back({4, 4096, 4095, true});
  cases.push_back({1, 4096, 4095, true});
  for (const Case& c : cases) {
    const Figures f = measure(c, directory.path);
    std::printf(
        "{\"wireVersion\":%d,\"capacity\":%lu,\"batch\":%lu,\"cache\":\"%s\",\"memcpyNs\":%.3f,\"popNs\":%.3f,"
        "\"drainNs\":%.3f,\"tallyNs\":%.3f}\n",
        c.version, c.capacity, c.batch, c.cold ? "cold" : "warm", f.memcpyNs, f.popNs, f.drainNs, f.tallyNs);
    std::fflush(stdout);
  }
}
