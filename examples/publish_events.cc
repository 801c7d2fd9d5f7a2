// A C++ program without NIXL that publishes CUSTOM and SYSTEM events with the header-only writer:
//
//   g++ -std=c++20 -I native examples/publish_events.cc -o publish_events && ./publish_events /dev/shm/nixl
//   npx nixl-otel serve --dir /dev/shm/nixl

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "ring/ring_writer.h"

namespace {

uint64_t nowUs() {
  using namespace std::chrono;
  return static_cast<uint64_t>(duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
}

bool publish(nixl_otel::RingWriter& ring, const char* name, int category, uint64_t value) {
  nixl_otel::RingEvent event;
  event.timestampUs = nowUs();
  event.setName(name);
  event.category = category;
  event.value = value;
  return ring.push(event);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  nixl_otel::RingWriter ring;
  const std::string problem = ring.create(std::string(argv[1]) + "/cpp-service", 1, 4096);
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  bool accepted = publish(ring, "resident_bytes", nixl_otel::kSystem, static_cast<uint64_t>(usage.ru_maxrss) * 1024);
  for (const uint64_t hits : {17, 25}) accepted &= publish(ring, "cache_hits", nixl_otel::kCustom, hits);
  std::puts(accepted ? "published 3 events" : "the ring is full: no consumer drains it, or too slowly");
  return accepted ? 0 : 1;
}
