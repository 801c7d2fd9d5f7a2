// Snapshots of sources.

#include <atomic>

#include "addon/functions.h"
#include "addon/values.h"
#include "addon/words.h"
#include "collector.h"
#include "posix.h"

namespace nixl_otel::addon {

namespace {

void putAgent(Words& words, std::vector<std::string>& strings, const SourceAgent& seen, const AgentStatus& status,
              const Tally& tally, Views views) {
  strings.insert(strings.end(), {seen.name, seen.directory, toUtf8(seen.agent->path())});
  words.put(tally.id());
  words.put(static_cast<uint64_t>(status.wireVersion));
  words.put(status.capacity);
  words.put(static_cast<uint64_t>(status.life));
  words.put(static_cast<uint64_t>(status.pid));
  words.put(tally.startTimeMs());
  words.put(status.lastEventMs);
  words.put(uint64_t{status.exported} | uint64_t{status.drains.suspect} << 1 |
            uint64_t{tally.memoryApproximate()} << 2 | uint64_t{status.recovered} << 3 |
            uint64_t{!status.keptAttributes.empty()} << 4);
  words.put(status.foundAtDrain);
  words.put(status.peakFound);
  words.put(status.drains.foundFull);
  words.put(status.fullMs);
  words.put(uint64_t{status.drains.restarts});
  words.put(uint64_t{status.drains.resyncs});
  words.put(uint64_t{status.drains.foreignMoves});
  if (!status.keptAttributes.empty()) strings.emplace_back(status.keptAttributes);
  putTally(words, strings, tally, views);
}

Napi::Array problemArray(Napi::Env env, const std::vector<RingProblem>& found) {
  auto problems = Napi::Array::New(env, found.size());
  for (uint32_t i = 0; i < found.size(); ++i) {
    auto problem = Napi::Object::New(env);
    problem.Set("path", toUtf8(found[i].path));
    problem.Set("state", toString(found[i].state));
    problem.Set("reason", found[i].reason);
    problems.Set(i, problem);
  }
  return problems;
}

Napi::Array stateProblemArray(Napi::Env env, const std::vector<StateProblem>& found) {
  auto problems = Napi::Array::New(env, found.size());
  for (uint32_t i = 0; i < found.size(); ++i) {
    auto problem = Napi::Object::New(env);
    problem.Set("path", toUtf8(found[i].path));
    problem.Set("reason", found[i].reason);
    problems.Set(i, problem);
  }
  return problems;
}

Napi::Array placeArray(Napi::Env env, const std::vector<PlaceStatus>& found) {
  auto places = Napi::Array::New(env, found.size());
  for (uint32_t i = 0; i < found.size(); ++i) {
    auto place = Napi::Object::New(env);
    place.Set("state", toString(found[i].state));
    place.Set("reason", found[i].reason);
    place.Set("files", static_cast<double>(found[i].files));
    place.Set("hadRings", found[i].hadRings);
    places.Set(i, place);
  }
  return places;
}

Napi::Object collectorObject(Napi::Env env, const CollectorStats& stats) {
  auto collector = Napi::Object::New(env);
  collector.Set("drainIntervalMs", static_cast<double>(stats.drainInterval.count()));
  collector.Set("ticks", static_cast<double>(stats.ticks));
  collector.Set("lateTicks", static_cast<double>(stats.lateTicks));
  collector.Set("maxLagMs", stats.maxLagMs);
  collector.Set("sinceTickMs", stats.sinceTickMs);
  return collector;
}

// (source, reader, exponential, room): returns the snapshot; without `exponential` its histograms have no exponential
// view. Its words are in the ArrayBuffer `room` if they fit in it. If the collector's thread holds a lock for longer
// than the budget, returns the milliseconds since its last tick instead, as a number.
Napi::Value snapshot(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<Source> source = held<Source>(info);
  Collector& collector = Collector::instance();
  WaitBudget budget = collector.callBudget();
  auto room = info[3].As<Napi::ArrayBuffer>();
  // Growing word by word would copy megabytes, and touch new memory for each copy.
  static std::atomic<size_t> lastSize = 0;
  Words words({static_cast<uint64_t*>(room.Data()), room.ByteLength() / sizeof(uint64_t)}, lastSize);
  std::vector<std::string> strings;
  uint32_t agents = 0;
  const Views views = info[2].As<Napi::Boolean>() ? Views::kBoth : Views::kByBound;
  const auto put = [&](const SourceAgent& seen, const AgentStatus& status, const Tally& tally) {
    putAgent(words, strings, seen, status, tally, views);
    ++agents;
  };
  const auto reader = static_cast<uint32_t>(number(info[1]));
  SourceReport report;
  if (!collector.snapshot(*source, reader, put, budget) || !collector.report(*source, 1000, report, budget)) {
    return Napi::Number::New(env, collector.sinceTickMs());
  }
  lastSize = words.all().size();
  auto result = Napi::Object::New(env);
  result.Set("takenMs", wallClockMs());
  result.Set("agents", agents);
  result.Set("words", words.fits() ? room : wordBuffer(env, words));
  result.Set("strings", textArray(env, strings));
  result.Set("problemCount", static_cast<double>(report.problemCount));
  result.Set("problems", problemArray(env, report.problems));
  result.Set("stateProblems", stateProblemArray(env, report.stateProblems));
  std::vector<std::string> open;
  for (const std::string& directory : report.openDirectories) open.push_back(toUtf8(directory));
  result.Set("openDirectories", textArray(env, open));
  result.Set("places", placeArray(env, report.places));
  result.Set("collector", collectorObject(env, report.stats));
  return result;
}

}  // namespace

void addSnapshot(Napi::Object exports) { add(exports, "snapshot", snapshot); }

}  // namespace nixl_otel::addon
