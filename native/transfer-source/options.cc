#include "options.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "staging_queue.h"

namespace nixl_otel::transfer_source {

namespace {

using Text = std::string_view;
using Name = const std::string&;

struct Flag {
  const char* name;
  const char* environment;  // NIXL's variable for the same thing, or nullptr
  bool takesValue;
  void (*apply)(Options& options, Name name, Text value);
};

constexpr uint64_t kMany = 1'000'000'000'000;

// clang-format off
constexpr Flag kFlags[] = {
    {"--dir", "NIXL_TELEMETRY_DIR", true, [](Options& o, Name n, Text v) {
      if (v.empty()) refuse(n, v, "a directory");
      o.dir = v;
    }},
    {"--agents", nullptr, true, [](Options& o, Name n, Text v) { o.agents = wholeNumber(n, v, 1, 4096); }},
    {"--processes", nullptr, true, [](Options& o, Name n, Text v) { o.processes = wholeNumber(n, v, 1, 1024); }},
    {"--name", nullptr, true, [](Options& o, Name n, Text v) { o.name = agentName(n, v); }},
    {"--exact-name", nullptr, false, [](Options& o, Name, Text) { o.exactName = true; }},
    {"--rate", nullptr, true, [](Options& o, Name n, Text v) { o.rate = number(n, v, 0, 1e8); }},
    {"--seconds", nullptr, true, [](Options& o, Name n, Text v) { o.seconds = number(n, v, 0, 1e8); }},
    {"--transfers", nullptr, true, [](Options& o, Name n, Text v) { o.transfers = wholeNumber(n, v, 1, kMany); }},
    {"--sizes", nullptr, true, [](Options& o, Name n, Text v) { o.sizes = sizeMix(n, v); }},
    {"--reads", nullptr, true, [](Options& o, Name n, Text v) { o.readsPercent = number(n, v, 0, 100); }},
    {"--errors", nullptr, true, [](Options& o, Name n, Text v) { o.errorsPercent = number(n, v, 0, 100); }},
    {"--wire-version", nullptr, true, [](Options& o, Name n, Text v) {
      o.wireVersion = static_cast<int32_t>(wholeNumber(n, v, 1, 5));
    }},
    {"--buffer-size", "NIXL_TELEMETRY_BUFFER_SIZE", true, [](Options& o, Name n, Text v) {
      o.bufferSize = ringCapacity(n, v);
    }},
    {"--flush-interval", "NIXL_TELEMETRY_RUN_INTERVAL", true, [](Options& o, Name n, Text v) {
      o.flushInterval = std::chrono::milliseconds(wholeNumber(n, v, 1, 60'000));
    }},
    {"--staging", nullptr, true, [](Options& o, Name n, Text v) {
      o.staging = wholeNumber(n, v, 0, StagingQueue::kMostStaged);
    }},
    {"--no-final-flush", nullptr, false, [](Options& o, Name, Text) { o.finalFlush = false; }},
    {"--restart-every", nullptr, true, [](Options& o, Name n, Text v) {
      o.restartEvery = std::chrono::milliseconds(wholeNumber(n, v, 0, 86'400'000));
    }},
    {"--restart-sizes", nullptr, true, [](Options& o, Name n, Text v) { o.restartSizes = ringCapacities(n, v); }},
    {"--restarts", nullptr, true, [](Options& o, Name n, Text v) { o.restarts = wholeNumber(n, v, 1, kMany); }},
    {"--copy-free", nullptr, false, [](Options& o, Name, Text) { o.copyFree = true; }},
    {"--gpu", nullptr, false, [](Options& o, Name, Text) { o.gpu = true; }},
    {"--ready", nullptr, false, [](Options& o, Name, Text) { o.ready = true; }},
    {"--with-parent", nullptr, true, [](Options& o, Name n, Text v) { o.parent = wholeNumber(n, v, 1, INT32_MAX); }},
    {"--seed", nullptr, true, [](Options& o, Name n, Text v) { o.seed = wholeNumber(n, v, 0, UINT64_MAX); }},
    {"--help", nullptr, false, [](Options& o, Name, Text) { o.help = true; }},
    {"--version", nullptr, false, [](Options& o, Name, Text) { o.version = true; }},
};
// clang-format on

const Flag& findFlag(Text name) {
  for (const Flag& flag : kFlags) {
    if (name == flag.name) return flag;
  }
  throw OptionError("there is no flag " + std::string(name) + ": --help lists them all");
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
}

}  // namespace

Options parseOptions(int argc, char** argv) {
  Options options;
  std::set<Text> given;
  for (int i = 1; i < argc; i++) {
    const Text argument = argv[i];
    const size_t equals = argument.find('=');
    const Flag& flag = findFlag(argument.substr(0, equals));
    Text value;
    if (equals != Text::npos) {
      value = argument.substr(equals + 1);
      if (!flag.takesValue) throw OptionError(std::string(flag.name) + " takes no value");
    } else if (flag.takesValue) {
      if (++i == argc) throw OptionError(std::string(flag.name) + " needs a value after it");
      value = argv[i];
    }
    flag.apply(options, flag.name, value);
    given.insert(flag.name);
  }
  if (options.help || options.version) return options;
  for (const Flag& flag : kFlags) {
    if (flag.environment == nullptr || given.contains(flag.name)) continue;
    const char* value = std::getenv(flag.environment);
    if (value != nullptr && *value != '\0') flag.apply(options, flag.environment, value);
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
