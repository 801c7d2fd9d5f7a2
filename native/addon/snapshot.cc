// Snapshots of sources.

#include <atomic>
#include <optional>
#include <span>

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
            uint64_t{!status.keptAttributes.empty()} << 4 | uint64_t{status.searched} << 5);
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

// A snapshot that is taken in parts.
struct TakenSnapshot {
  std::shared_ptr<Source> source;
  uint32_t reader;
  Views views;
  WaitBudget budget;  // of all parts
  SnapshotPlace place;
  std::optional<Words> words;  // from the first part to the last one
  std::vector<std::string> strings;
  uint32_t agents = 0;
};

// (source, reader, exponential): begins a snapshot; without `exponential` its histograms have no exponential view.
Napi::Value beginSnapshot(const Napi::CallbackInfo& info) {
  auto taken = std::make_shared<TakenSnapshot>();
  taken->source = held<Source>(info);
  taken->reader = static_cast<uint32_t>(number(info[1]));
  taken->budget = Collector::instance().callBudget();
  taken->views = info[2].As<Napi::Boolean>() ? Views::kBoth : Views::kByBound;
  return wrap(info.Env(), std::move(taken));
}

Napi::Object snapshotObject(Napi::Env env, TakenSnapshot& taken, const SourceReport& report, Napi::ArrayBuffer room) {
  auto result = Napi::Object::New(env);
  result.Set("takenMs", wallClockMs());
  result.Set("agents", taken.agents);
  result.Set("words", taken.words->fits() ? room : wordBuffer(env, *taken.words));
  result.Set("strings", textArray(env, taken.strings));
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

// (snapshot, room, most): adds the next agents, at most `most`. Returns the snapshot if it is complete, otherwise
// undefined. Its words are in the ArrayBuffer `room` if they fit in it; each call for a snapshot must pass the same. If
// the collector's thread holds a lock for longer than the budget, returns the milliseconds since its last tick instead,
// as a number; then the snapshot has failed.
Napi::Value continueSnapshot(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  TakenSnapshot& taken = *held<TakenSnapshot>(info);
  Collector& collector = Collector::instance();
  auto room = info[1].As<Napi::ArrayBuffer>();
  // Growing word by word would copy megabytes, and touch new memory for each copy.
  static std::atomic<size_t> lastSize = 0;
  if (!taken.words) {
    const std::span<uint64_t> memory(static_cast<uint64_t*>(room.Data()), room.ByteLength() / sizeof(uint64_t));
    taken.words.emplace(memory, lastSize);
  }
  const auto put = [&](const SourceAgent& seen, const AgentStatus& status, const Tally& tally) {
    putAgent(*taken.words, taken.strings, seen, status, tally, taken.views);
    ++taken.agents;
  };
  const auto most = static_cast<size_t>(number(info[2]));
  SourceReport report;
  const bool isRead = collector.snapshotPart(*taken.source, taken.place, most, put, taken.budget);
  if (isRead && !taken.place.isComplete) return env.Undefined();
  Napi::Value result;
  if (isRead && collector.report(*taken.source, 1000, report, taken.budget)) {
    collector.noteRead(*taken.source, taken.reader, taken.place, taken.budget);
    lastSize = taken.words->all().size();
    result = snapshotObject(env, taken, report, room);
  } else {
    result = Napi::Number::New(env, collector.sinceTickMs());
  }
  // The garbage collector may keep `taken` for long, because it does not know its size.
  taken.words.reset();
  taken.strings = {};
  return result;
}

}  // namespace

void addSnapshot(Napi::Object exports) {
  add(exports, "beginSnapshot", beginSnapshot);
  add(exports, "continueSnapshot", continueSnapshot);
}

}  // namespace nixl_otel::addon
