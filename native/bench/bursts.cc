// Load for consumers in benches: writes bursts like the flushes of NIXL's agents, without the other work of agents.
// Each ring gets EVENTS events at once every INTERVAL milliseconds. The bursts of the rings are spread over the
// interval.
//
//   bursts DIR AGENTS WIRE_VERSION CAPACITY EVENTS INTERVAL
//
// Prints `ready` when the rings exist. A line on stdin starts the load, and the end of stdin ends it. Then the program
// prints one line of JSON with the number of written events and of events that full rings refused.

#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>

#include "bench.h"

using namespace nixl_otel;
using namespace nixl_otel::bench;

namespace {

// Waits until the time `ns`, or until input on stdin. False at the end of stdin.
bool waitUntil(double ns) {
  const double leftNs = std::max(0.0, ns - nowNs());
  const timespec left{static_cast<time_t>(leftNs / 1e9), static_cast<long>(leftNs) % 1'000'000'000};
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::ppoll(&input, 1, &left, nullptr) <= 0) return true;
  char bytes[64];
  return ::read(STDIN_FILENO, bytes, sizeof bytes) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: bursts DIR AGENTS WIRE_VERSION CAPACITY EVENTS INTERVAL\n");
    return 2;
  }
  ::prctl(PR_SET_TIMERSLACK, 1);
  const std::string directory = argv[1];
  const uint64_t agents = std::strtoull(argv[2], nullptr, 10);
  const uint64_t capacity = std::strtoull(argv[4], nullptr, 10);
  const uint64_t burst = std::strtoull(argv[5], nullptr, 10);
  const double intervalNs = std::strtod(argv[6], nullptr) * 1e6;
  const std::vector<RingEvent> events = transferEvents();
  const auto writers = std::make_unique<RingWriter[]>(agents);
  for (uint64_t i = 0; i < agents; ++i) {
    const std::string problem =
        writers[i].create(directory + "/agent-" + std::to_string(i), std::atoi(argv[3]), capacity);
    if (problem.empty()) continue;
    std::fprintf(stderr, "bursts: %s\n", problem.c_str());
    return 1;
  }
  std::printf("ready\n");
  std::fflush(stdout);
  uint64_t written = 0;
  uint64_t refused = 0;
  size_t next = 0;
  bool isRunning = waitUntil(1e18);
  const double begunNs = nowNs();
  for (uint64_t round = 0; isRunning; ++round) {
    for (uint64_t i = 0; i < agents && isRunning; ++i) {
      isRunning = waitUntil(begunNs + (static_cast<double>(round) + static_cast<double>(i) / agents) * intervalNs);
      for (uint64_t n = 0; n < burst && isRunning; ++n) {
        ++(writers[i].push(events[next]) ? written : refused);
        next = (next + 1) % events.size();
      }
    }
  }
  std::printf("{\"written\":%lu,\"refused\":%lu}\n", written, refused);
}
