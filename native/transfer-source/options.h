// Settings of a run: flags, NIXL's variables, defaults.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "option_values.h"
#include "pace.h"

namespace nixl_otel::transfer_source {

struct Options {
  std::string dir;
  uint32_t agents = 1;
  uint32_t processes = 1;
  std::string name = "agent";
  bool exactName = false;
  double rate = 100;              // attempted transfers per second and agent; 0: no pauses
  std::optional<double> seconds;  // 0: until a signal; see runTime()
  uint64_t transfers = 0;         // attempts per agent; 0: no limit
  std::vector<SizeShare> sizes{{4 << 10, 60}, {64 << 10, 30}, {1 << 20, 10}};
  Pace pace;
  double readsPercent = 25;
  double errorsPercent = 0;
  int32_t wireVersion = 4;
  uint64_t bufferSize = 4096;  // slots
  std::chrono::milliseconds flushInterval{100};
  std::optional<uint64_t> staging;  // events; 0: unbounded; see stagingLimit()
  bool finalFlush = true;
  bool waitForRoom = false;
  bool unlocked = false;
  std::chrono::milliseconds restartEvery{0};
  std::vector<uint64_t> restartSizes;
  uint64_t restarts = 0;  // 0: no limit
  bool copyFree = false;
  bool gpu = false;
  bool ready = false;
  uint64_t parent = 0;  // pid; 0: none
  uint64_t seed = 1;
  bool help = false;
  bool version = false;

  std::string agentName(uint32_t index) const;
  std::string ringPath(uint32_t index) const;
  // Returns nullopt if the run ends on a signal, or when every agent has ended.
  std::optional<std::chrono::nanoseconds> runTime() const;
  uint64_t stagingLimit() const;
  uint64_t largestTransfer() const;
};

// Reads the flags, and NIXL's variables in place of missing flags. Throws OptionError.
Options parseOptions(int argc, char** argv);

extern const char* const kUsage;

}  // namespace nixl_otel::transfer_source
