#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string_view>

#include "ring/ring_layout.h"
#include "staging_queue.h"

namespace nixl_otel::transfer_source {

namespace {

using Value = const OptionValue&;
using Milliseconds = std::chrono::milliseconds;

struct Flag {
  const char* name;
  bool takesValue;
  void (*apply)(Options& options, Value value);
  const char* variable = nullptr;  // NIXL's variable for the same setting
};

constexpr uint64_t kMany = 1'000'000'000'000;
constexpr uint64_t kLongestUs = 60'000'000;

// clang-format off
constexpr Flag kFlags[] = {
    {"dir", true, [](Options& o, Value v) { o.dir = v.directory(); }, "NIXL_TELEMETRY_DIR"},
    {"agents", true, [](Options& o, Value v) { o.agents = v.wholeNumber(1, 4096); }},
    {"processes", true, [](Options& o, Value v) { o.processes = v.wholeNumber(1, 1024); }},
    {"name", true, [](Options& o, Value v) { o.name = v.agentName(); }},
    {"exact-name", false, [](Options& o, Value) { o.exactName = true; }},
    {"rate", true, [](Options& o, Value v) { o.rate = v.number(0, 1e8); }},
    {"seconds", true, [](Options& o, Value v) { o.seconds = v.number(0, 1e8); }},
    {"transfers", true, [](Options& o, Value v) { o.transfers = v.wholeNumber(1, kMany); }},
    {"sizes", true, [](Options& o, Value v) { o.sizes = v.sizeMix(); }},
    {"bandwidth", true, [](Options& o, Value v) { o.pace.rates = v.sizeRates(); }},
    {"base-us", true, [](Options& o, Value v) { o.pace.baseUs = v.wholeNumber(0, kLongestUs); }},
    {"post-us", true, [](Options& o, Value v) { o.pace.postUs = v.wholeNumber(0, kLongestUs); }},
    {"slow-after", true, [](Options& o, Value v) { o.pace.slowAfterSeconds = v.number(0, 1e8); }},
    {"slow-factor", true, [](Options& o, Value v) { o.pace.slowFactors = v.slowFactors(); }},
    {"reads", true, [](Options& o, Value v) { o.readsPercent = v.number(0, 100); }},
    {"errors", true, [](Options& o, Value v) { o.errorsPercent = v.number(0, 100); }},
    {"wire-version", true, [](Options& o, Value v) { o.wireVersion = v.wholeNumber(kFirstVersion, kLastVersion); }},
    {"buffer-size", true, [](Options& o, Value v) { o.bufferSize = v.ringCapacity(); }, "NIXL_TELEMETRY_BUFFER_SIZE"},
    {"flush-interval", true, [](Options& o, Value v) { o.flushInterval = Milliseconds(v.wholeNumber(1, 60'000)); },
     "NIXL_TELEMETRY_RUN_INTERVAL"},
    {"staging", true, [](Options& o, Value v) { o.staging = v.wholeNumber(0, StagingQueue::kMostStaged); }},
    {"no-final-flush", false, [](Options& o, Value) { o.finalFlush = false; }},
    {"unlocked", false, [](Options& o, Value) { o.unlocked = true; }},
    {"wait-for-room", false, [](Options& o, Value) { o.waitForRoom = true; }},
    {"restart-every", true, [](Options& o, Value v) { o.restartEvery = Milliseconds(v.wholeNumber(0, 86'400'000)); }},
    {"restart-sizes", true, [](Options& o, Value v) { o.restartSizes = v.ringCapacities(); }},
    {"restarts", true, [](Options& o, Value v) { o.restarts = v.wholeNumber(1, kMany); }},
    {"copy-free", false, [](Options& o, Value) { o.copyFree = true; }},
    {"gpu", false, [](Options& o, Value) { o.gpu = true; }},
    {"ready", false, [](Options& o, Value) { o.ready = true; }},
    {"with-parent", true, [](Options& o, Value v) { o.parent = v.wholeNumber(1, INT32_MAX); }},
    {"seed", true, [](Options& o, Value v) { o.seed = v.wholeNumber(0, UINT64_MAX); }},
    {"help", false, [](Options& o, Value) { o.help = true; }},
    {"version", false, [](Options& o, Value) { o.version = true; }},
};
// clang-format on

void checkPace(const Options& options) {
  const Pace& pace = options.pace;
  std::vector<bool> used(pace.rates.size());
  for (const SizeShare& share : options.sizes) {
    if (const std::optional<size_t> rate = rateFor(pace.rates, share.bytes)) used[*rate] = true;
  }
  if (const auto idle = std::find(used.begin(), used.end(), false); idle != used.end()) {
    throw OptionError("--bandwidth has a rate from " + std::to_string(pace.rates[idle - used.begin()].fromBytes) +
                      " bytes on, which no size of --sizes has");
  }
  if (pace.slowAfterSeconds.has_value() != pace.slowFactors.has_value()) {
    throw OptionError(pace.slowFactors ? "--slow-factor needs --slow-after, the seconds until the agents are slow"
                                       : "--slow-after needs --slow-factor, by which the times multiply");
  }
  if (!pace.slowFactors) return;
  const struct {
    const char* part;
    const char* flag;
    bool takesTime;
    bool hasFactor;
  } parts[] = {
      {"bandwidth", "--bandwidth", !pace.rates.empty(), pace.slowFactors->bandwidth.has_value()},
      {"base", "--base-us with 1 or more", pace.baseUs > 0, pace.slowFactors->base.has_value()},
      {"post", "--post-us with 1 or more", pace.postUs > 0, pace.slowFactors->post.has_value()},
  };
  bool allMultiplies = false;  // a part without a separate factor
  for (const auto& [part, flag, takesTime, hasFactor] : parts) {
    if (hasFactor && !takesTime) throw OptionError(std::string("--slow-factor ") + part + " needs " + flag);
    allMultiplies = allMultiplies || (takesTime && !hasFactor);
  }
  if (pace.slowFactors->all && !allMultiplies) {
    throw OptionError("--slow-factor for all parts needs a time to multiply: --bandwidth, --base-us or --post-us");
  }
  const auto runTime = options.runTime();
  if (runTime && limitedSeconds(*pace.slowAfterSeconds) >= *runTime) {
    throw OptionError("--slow-after is " + shortNumber(*pace.slowAfterSeconds) +
                      ": use less than the duration (--seconds " +
                      shortNumber(std::chrono::duration<double>(*runTime).count()) + ")");
  }
}

void checkTogether(const Options& options) {
  if (options.dir.empty()) throw OptionError("--dir is missing: name a directory (or set NIXL_TELEMETRY_DIR)");
  if (options.processes > options.agents) {
    throw OptionError("--processes is " + std::to_string(options.processes) + ": use at most one per agent (--agents " +
                      std::to_string(options.agents) + ")");
  }
  if (options.exactName && options.agents != 1) throw OptionError("--exact-name goes with --agents 1 only");
  if (options.gpu && options.copyFree) throw OptionError("--gpu and --copy-free exclude each other");
  if (options.restartEvery.count() == 0 && (options.restarts != 0 || !options.restartSizes.empty())) {
    throw OptionError("--restarts and --restart-sizes need --restart-every with 1 or more milliseconds");
  }
  checkPace(options);
}

}  // namespace

Options parseOptions(int argc, char** argv) {
  constexpr int kFirstCode = 256;  // above all characters: getopt reports an unknown `-x` by its character
  std::vector<option> flags;
  for (const Flag& flag : kFlags) {
    const int code = kFirstCode + static_cast<int>(flags.size());
    flags.push_back({flag.name, flag.takesValue ? required_argument : no_argument, nullptr, code});
  }
  flags.push_back({});

  Options options;
  std::set<std::string_view> given;
  // "+" keeps the order and ends at an argument that is no flag. ":" turns off getopt's messages.
  while (optind < argc) {
    const std::string argument = argv[optind];
    const std::string name = argument.substr(0, argument.find('='));
    const int code = ::getopt_long(argc, argv, "+:", flags.data(), nullptr);
    if (code == ':') throw OptionError(name + " needs a value after it");
    if (code == '?' && optopt >= kFirstCode) throw OptionError(name + " takes no value");
    // getopt also accepts an unambiguous prefix of a name, which is refused here.
    if (code < kFirstCode || name.substr(2) != kFlags[code - kFirstCode].name) {
      throw OptionError("there is no flag " + name + ": --help lists them all");
    }
    const Flag& flag = kFlags[code - kFirstCode];
    flag.apply(options, {name, optarg == nullptr ? "" : optarg});
    given.insert(flag.name);
  }
  if (options.help || options.version) return options;
  for (const Flag& flag : kFlags) {
    if (flag.variable == nullptr || given.contains(flag.name)) continue;
    const char* value = std::getenv(flag.variable);
    if (value != nullptr && *value != '\0') flag.apply(options, {flag.variable, value});
  }
  checkTogether(options);
  return options;
}

std::string Options::agentName(uint32_t index) const { return exactName ? name : name + '-' + std::to_string(index); }

std::string Options::ringPath(uint32_t index) const {
  return (dir.ends_with('/') ? dir : dir + '/') + agentName(index);
}

std::optional<std::chrono::nanoseconds> Options::runTime() const {
  const bool endsByItself = transfers != 0 || restarts != 0;
  const double wanted = seconds.value_or(endsByItself ? 0 : 10);
  if (wanted == 0) return std::nullopt;
  return std::chrono::nanoseconds(std::llround(wanted * 1e9));
}

uint64_t Options::stagingLimit() const { return staging.value_or(wireVersion == 1 ? 0 : 4096); }

uint64_t Options::largestTransfer() const {
  return std::max_element(sizes.begin(), sizes.end(), [](auto& a, auto& b) { return a.bytes < b.bytes; })->bytes;
}

}  // namespace nixl_otel::transfer_source
