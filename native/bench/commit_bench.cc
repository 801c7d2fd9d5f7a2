// Cost of a commit to a state file, beside the cost of the drain that it follows. Short drains with and without a
// commit take turns on one core, so that both see the same machine. Prints one JSON line per case, from which
// bench/commit.bench.mjs makes the table.

#include <sched.h>

#include "bench.h"
#include "ring/ring_reader.h"
#include "state/state_file.h"

using namespace nixl_otel;
using namespace nixl_otel::bench;

namespace {

struct Case {
  uint64_t batch;  // events in the ring at each drain
  uint32_t rings;  // that take turns, so that one's data leaves the caches
};

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

// An agent's ring, its tally and its state.
struct Ring {
  Ring(const std::string& path, const std::shared_ptr<const TallyPlan>& plan) : tally(plan) {
    writer.create(path, 4, 4096);
    RingState ringState;
    std::string reason;
    reader = RingReader::open(path, false, ringState, reason);
    state = StateFile::open(path, plan, reason);
    if (reader == nullptr || state == nullptr) {
      std::fprintf(stderr, "commit_bench: %s\n", reason.c_str());
      std::exit(1);
    }
    agent.rings.resize(1);
    agent.attributes.assign(300, 'a');
  }
  RingWriter writer;
  std::unique_ptr<RingReader> reader;
  std::unique_ptr<StateFile> state;
  Tally tally;
  AgentRecord agent;
};

struct Figures {
  std::vector<double> drainNs;   // drain and tally
  std::vector<double> commitNs;  // drain, tally and commit
};

void pinToOneCore() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(::sched_getcpu()), &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

Figures measure(const Case& c, uint64_t drains) {
  const TemporaryDirectory directory;
  static const std::vector<RingEvent> events = transferEvents();
  const auto plan = std::make_shared<const TallyPlan>(tallyOptions());
  std::vector<std::unique_ptr<Ring>> rings;
  for (uint32_t i = 0; i < c.rings; ++i) {
    rings.push_back(std::make_unique<Ring>(directory.path + "/agent-" + std::to_string(i), plan));
  }
  ChunkBuffer buffer;
  std::vector<TappedEvent> tapped;
  std::string reason;
  size_t next = 0;
  Figures figures;
  // The first drains widen the histograms.
  const uint64_t warm = 40 * c.rings;
  for (uint64_t i = 0; i < drains + warm; ++i) {
    Ring& ring = *rings[i % c.rings];
    for (uint64_t n = 0; n < c.batch; ++n) {
      ring.writer.push(events[next]);
      next = (next + 1) % events.size();
    }
    const bool commits = i / c.rings % 2 == 0;
    const double begin = nowNs();
    ring.reader->drain(4096, buffer, [&](const RingReader::Chunk& chunk) {
      ring.tally.fold(chunk, {}, tapped);
      if (commits && !ring.state->commit(ring.agent, ring.tally, reason)) std::exit(1);
    });
    const double ns = nowNs() - begin;
    if (i >= warm) (commits ? figures.commitNs : figures.drainNs).push_back(ns);
  }
  return figures;
}

}  // namespace

// --quick: only checks that the bench works. The figures mean nothing.
int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string(argv[1]) == "--quick";
  pinToOneCore();
  for (const Case& c : {Case{250, 1}, Case{250, 64}, Case{1000, 1}, Case{4095, 1}, Case{4095, 64}}) {
    const Figures f = measure(c, quick ? 200 : 20'000'000 / c.batch);
    std::printf("{\"batch\":%lu,\"rings\":%u", c.batch, c.rings);
    for (const int share : {10, 50, 90}) {
      std::printf(",\"drainNs%d\":%.0f,\"withCommitNs%d\":%.0f", share, percentile(f.drainNs, share / 100.0), share,
                  percentile(f.commitNs, share / 100.0));
    }
    std::printf("}\n");
    std::fflush(stdout);
  }
}
