// All that a source knows at this moment.

#include "addon/functions.h"
#include "addon/values.h"
#include "addon/words.h"
#include "collector.h"
#include "discovery.h"

namespace nixl_otel::addon {

namespace {

void putAgent(Words& words, std::vector<std::string>& strings, const SourceAgent& seen, const AgentStatus& status,
              const Tally& tally) {
  strings.insert(strings.end(), {seen.name, seen.directory, toUtf8(seen.agent->path())});
  words.put(tally.id());
  words.put(static_cast<uint64_t>(status.wireVersion));
  words.put(status.capacity);
  words.put(static_cast<uint64_t>(status.life));
  words.put(static_cast<uint64_t>(status.pid));
  words.put(tally.startTimeMs());
  words.put(status.lastEventMs);
  words.put(uint64_t{status.exported} | uint64_t{status.drains.suspect} << 1 |
            uint64_t{tally.memoryApproximate()} << 2);
  words.put(status.fill);
  words.put(status.peakFill);
  words.put(status.drains.foundFull);
  words.put(status.fullMs);
  words.put(uint64_t{status.drains.restarts});
  words.put(uint64_t{status.drains.resyncs});
  words.put(uint64_t{status.drains.foreignMoves});
  putTally(words, strings, tally);
}

Napi::Value snapshot(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<Source> source = held<Source>(info);
  Words words;
  std::vector<std::string> strings;
  uint32_t agents = 0;
  const auto reader = static_cast<uint32_t>(number(info[1]));
  Collector::instance().snapshot(*source, reader,
                                 [&](const SourceAgent& seen, const AgentStatus& status, const Tally& tally) {
                                   putAgent(words, strings, seen, status, tally);
                                   ++agents;
                                 });
  auto result = Napi::Object::New(env);
  result.Set("takenMs", wallClockMs());
  result.Set("agents", agents);
  result.Set("words", wordBuffer(env, words));
  result.Set("strings", textArray(env, strings));

  std::vector<RingProblem> found;
  result.Set("problemCount", static_cast<double>(Collector::instance().problems(*source, 1000, found)));
  auto problems = Napi::Array::New(env, found.size());
  for (uint32_t i = 0; i < found.size(); ++i) {
    auto problem = Napi::Object::New(env);
    problem.Set("path", toUtf8(found[i].path));
    problem.Set("state", toString(found[i].state));
    problem.Set("reason", found[i].reason);
    problems.Set(i, problem);
  }
  result.Set("problems", problems);
  const std::vector<std::string> open = Collector::instance().openDirectories(*source);
  auto openDirectories = Napi::Array::New(env, open.size());
  for (uint32_t i = 0; i < open.size(); ++i) openDirectories.Set(i, toUtf8(open[i]));
  result.Set("openDirectories", openDirectories);
  const CollectorStats stats = Collector::instance().stats();
  auto collector = Napi::Object::New(env);
  collector.Set("drainIntervalMs", static_cast<double>(stats.drainInterval.count()));
  collector.Set("ticks", static_cast<double>(stats.ticks));
  collector.Set("lateTicks", static_cast<double>(stats.lateTicks));
  collector.Set("maxLagMs", stats.maxLagMs);
  collector.Set("lastLagMs", stats.lastLagMs);
  collector.Set("sinceTickMs", stats.sinceTickMs);
  result.Set("collector", collector);
  return result;
}

}  // namespace

void addSnapshot(Napi::Object exports) { add(exports, "snapshot", snapshot); }

}  // namespace nixl_otel::addon
