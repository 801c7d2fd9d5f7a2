// Snapshots of sources.

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>

#include "addon/functions.h"
#include "addon/values.h"
#include "addon/words.h"
#include "collector/collector.h"
#include "posix/posix.h"

namespace nixl_otel::addon {

namespace {

// Layouts of the agents whose texts the reader has, by id.
using KnownAgents = std::unordered_map<uint64_t, uint64_t>;

// Appends an agent, and its texts unless they are known: they are most of the time of a snapshot.
void putAgent(Words& words, std::vector<std::string>& strings, const SourceAgent& seen, const AgentStatus& status,
              const Tally& tally, Parts wanted, const KnownAgents& known) {
  const size_t begin = words.all().size();
  AgentWords fields;
  // The attributes are at most 4096 bytes.
  fields.layout = layoutOf(tally) | uint64_t{status.keptAttributes.size()} << 48;
  fields.id = tally.id();
  const auto found = known.find(fields.id);
  const bool hasTexts = found == known.end() || found->second != fields.layout;
  fields.wireVersion = static_cast<uint64_t>(status.wireVersion);
  fields.capacity = status.capacity;
  fields.life = static_cast<uint64_t>(status.life);
  fields.pid = static_cast<uint64_t>(status.pid);
  fields.startTimeMs = tally.startTimeMs();
  fields.lastEventMs = status.lastEventMs;
  fields.flags = uint64_t{status.exported} | uint64_t{status.drains.suspect} << 1 |
                 uint64_t{tally.memoryApproximate()} << 2 | uint64_t{status.recovered} << 3 |
                 uint64_t{!status.keptAttributes.empty()} << 4 | uint64_t{status.searched} << 5 |
                 uint64_t{status.shared} << 6 | uint64_t{hasTexts} << 7;
  fields.writers = status.writers.size();
  fields.foundAtDrain = status.foundAtDrain;
  fields.peakFound = status.peakFound;
  fields.foundFull = status.drains.foundFull;
  fields.foundFullMs = status.fullMs;
  fields.restarts = status.drains.restarts;
  fields.resyncs = status.drains.resyncs;
  fields.foreignMoves = status.drains.foreignMoves;
  fields.refused = tally.refused().count();
  fields.flushIntervalMs = status.flushMs;
  words.putFields(fields);
  putTally(words, tally, wanted);
  for (const pid_t pid : status.writers) words.put(static_cast<uint64_t>(pid));
  words.set(begin + offsetof(AgentWords, words) / sizeof(uint64_t), words.all().size() - begin);
  if (!hasTexts) return;
  strings.insert(strings.end(), {seen.name, seen.directory, toUtf8(seen.agent->path())});
  if (!status.keptAttributes.empty()) strings.emplace_back(status.keptAttributes);
  putNames(strings, tally);
}

void putProblem(Napi::Object object, const RingProblem& problem) {
  object.Set("path", toUtf8(problem.path));
  object.Set("state", toString(problem.state));
  object.Set("reason", problem.reason);
}

void putStateProblem(Napi::Object object, const StateProblem& problem) {
  object.Set("path", toUtf8(problem.path));
  object.Set("reason", problem.reason);
}

// Bytes, apart from the numbers of rings `live` and `ended`. totalBytes is 0 without a limit.
Napi::Object spaceObject(Napi::Env env, const PlaceSpace& found) {
  auto space = Napi::Object::New(env);
  space.Set("totalBytes", found.space.totalBytes);
  space.Set("freeBytes", found.space.freeBytes);
  space.Set("lackBytes", found.lackBytes);
  space.Set("live", found.live);
  space.Set("liveBytes", found.liveBytes);
  space.Set("ringBytes", found.ringBytes);
  space.Set("ended", found.ended);
  space.Set("endedBytes", found.endedBytes);
  space.Set("stateBytes", found.stateBytes);
  return space;
}

void putPlace(Napi::Object object, const PlaceStatus& place) {
  object.Set("state", toString(place.state));
  object.Set("reason", place.reason);
  object.Set("files", place.files);
  object.Set("hadRings", place.hadRings);
  object.Set("space", spaceObject(object.Env(), place.space));
}

Napi::Object collectorObject(Napi::Env env, const CollectorStats& stats) {
  auto collector = Napi::Object::New(env);
  collector.Set("drainIntervalMs", stats.drainInterval.count());
  collector.Set("ticks", stats.ticks);
  collector.Set("lateTicks", stats.lateTicks);
  collector.Set("maxLagMs", stats.maxLagMs);
  collector.Set("sinceTickMs", Collector::instance().sinceTickMs());
  return collector;
}

// A snapshot that is taken in parts.
struct TakenSnapshot {
  std::shared_ptr<Source> source;
  uint32_t reader;
  Parts wanted;
  KnownAgents known;
  WaitBudget budget;  // of all parts
  SnapshotPlace place;
  std::optional<Words> words;  // from the first part to the last one
  std::vector<std::string> strings;
  uint32_t agents = 0;
};

// (source, reader, exponential, sizeClasses, known): begins a snapshot. `exponential`, `sizeClasses`: see Parts.
// `known`: BigUint64Array with id and layout of each agent whose texts are left out.
Napi::Value beginSnapshot(const Napi::CallbackInfo& info) {
  auto taken = std::make_shared<TakenSnapshot>();
  taken->source = held<Source>(info);
  taken->reader = static_cast<uint32_t>(number(info[1]));
  taken->budget = Collector::instance().callBudget();
  taken->wanted = {info[2].As<Napi::Boolean>(), info[3].As<Napi::Boolean>()};
  const auto known = info[4].As<Napi::BigUint64Array>();
  for (size_t i = 0; i + 1 < known.ElementLength(); i += 2) taken->known.emplace(known[i], known[i + 1]);
  return wrap(info.Env(), std::move(taken));
}

Napi::Object snapshotObject(Napi::Env env, TakenSnapshot& taken, const SourceReport& report, Napi::ArrayBuffer room) {
  auto result = Napi::Object::New(env);
  result.Set("takenMs", wallClockMs());
  result.Set("agents", taken.agents);
  result.Set("words", taken.words->fits() ? room : wordBuffer(env, *taken.words));
  result.Set("strings", textArray(env, taken.strings));
  result.Set("problemCount", report.problemCount);
  result.Set("problems", objectArray(env, report.problems, putProblem));
  result.Set("stateProblems", objectArray(env, report.stateProblems, putStateProblem));
  result.Set("stateLosses", objectArray(env, report.stateLosses, putStateProblem));
  result.Set("openDirectories", textArray(env, report.openDirectories));
  result.Set("places", objectArray(env, report.places, putPlace));
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
    putAgent(*taken.words, taken.strings, seen, status, tally, taken.wanted, taken.known);
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
  taken.known = {};
  return result;
}

// Returns the order of the words, see words.h.
Napi::Object wordOrder(Napi::Env env) {
  auto order = Napi::Object::New(env);
#define NIXL_OTEL_NAME(type, name) #name,
  order.Set("agent", textArray(env, {NIXL_OTEL_AGENT_WORDS(NIXL_OTEL_NAME)}));
  order.Set("tally", textArray(env, {NIXL_OTEL_TALLY_WORDS(NIXL_OTEL_NAME)}));
  order.Set("event", textArray(env, {NIXL_OTEL_EVENT_WORDS(NIXL_OTEL_NAME)}));
  order.Set("histogram", textArray(env, {NIXL_OTEL_HISTOGRAM_WORDS(NIXL_OTEL_NAME)}));
  order.Set("direction", textArray(env, {NIXL_OTEL_DIRECTION_WORDS(NIXL_OTEL_NAME)}));
  order.Set("sizeClass", textArray(env, {NIXL_OTEL_CLASS_WORDS(NIXL_OTEL_NAME)}));
  order.Set("distribution", textArray(env, {NIXL_OTEL_DISTRIBUTION_WORDS(NIXL_OTEL_NAME)}));
#undef NIXL_OTEL_NAME
  return order;
}

}  // namespace

void addSnapshot(Napi::Object exports) {
  add(exports, "wordOrder", [](const Napi::CallbackInfo& info) -> Napi::Value { return wordOrder(info.Env()); });
  add(exports, "beginSnapshot", beginSnapshot);
  add(exports, "continueSnapshot", continueSnapshot);
}

}  // namespace nixl_otel::addon
