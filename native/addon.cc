// The thin Node-API wrapper: handles in, numbers out. The only file that knows Node.

#include <napi.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector.h"
#include "event_columns.h"
#include "ring_observer.h"
#include "ring_writer.h"

namespace {

using namespace nixl_otel;  // NOLINT: one file, one module

// --- what one JavaScript environment (main thread or worker) holds ---

struct Environment {
  std::set<std::shared_ptr<Source>> sources;
  // Runs when the environment ends: the last one that goes ends the collector's thread and waits for it.
  ~Environment() {
    for (const auto& source : sources) Collector::instance().close(source);
  }
};

Environment& environmentOf(const Napi::CallbackInfo& info) { return *info.Env().GetInstanceData<Environment>(); }

template <typename T>
Napi::Value wrap(Napi::Env env, std::shared_ptr<T> held) {
  return Napi::External<std::shared_ptr<T>>::New(env, new std::shared_ptr<T>(std::move(held)),
                                                 [](Napi::Env, std::shared_ptr<T>* p) { delete p; });
}

template <typename T>
std::shared_ptr<T>& held(const Napi::CallbackInfo& info) {
  return *info[0].As<Napi::External<std::shared_ptr<T>>>().Data();
}

std::string text(const Napi::Value& value) { return value.As<Napi::String>().Utf8Value(); }
double number(const Napi::Value& value) { return value.As<Napi::Number>().DoubleValue(); }

// --- sources ---

std::vector<double> numbers(const Napi::Value& value) {
  const auto array = value.As<Napi::Array>();
  std::vector<double> out;
  for (uint32_t i = 0; i < array.Length(); ++i) out.push_back(number(array.Get(i)));
  return out;
}

uint32_t boundsIndex(const Napi::Value& value) {
  return value.IsNumber() ? static_cast<uint32_t>(number(value)) : TallyOptions::kNoBounds;
}

HistogramRule histogramRule(const Napi::Object& o) {
  HistogramRule rule;
  if (o.Get("type").IsNumber()) rule.type = static_cast<uint32_t>(number(o.Get("type")));
  if (o.Get("name").IsString()) rule.name = text(o.Get("name"));
  if (o.Get("category").IsNumber()) rule.category = static_cast<int32_t>(number(o.Get("category")));
  rule.bounds = boundsIndex(o.Get("bounds"));
  return rule;
}

TallyOptions tallyOptions(const Napi::Object& tally) {
  TallyOptions options;
  const auto types = tally.Get("types").As<Napi::Array>();
  for (uint32_t type = 0; type < types.Length(); ++type) {
    const auto row = types.Get(type).As<Napi::Object>();
    options.typeCategories.push_back(static_cast<int32_t>(number(row.Get("category"))));
    options.typeBounds.push_back(boundsIndex(row.Get("bounds")));
    const auto names = row.Get("names").As<Napi::Array>();
    for (uint32_t i = 0; i < names.Length(); ++i) options.typeNames.emplace_back(text(names.Get(i)), type);
  }
  const auto bounds = tally.Get("bounds").As<Napi::Array>();
  for (uint32_t i = 0; i < bounds.Length(); ++i) options.bounds.push_back(numbers(bounds.Get(i)));
  const auto rules = tally.Get("rules").As<Napi::Array>();
  for (uint32_t i = 0; i < rules.Length(); ++i) {
    options.rules.push_back(histogramRule(rules.Get(i).As<Napi::Object>()));
  }
  options.sizeBounds = numbers(tally.Get("sizeBounds"));
  options.throughputBounds = numbers(tally.Get("throughputBounds"));
  return options;
}

SourceOptions sourceOptions(const Napi::Object& o) {
  SourceOptions options;
  const auto places = o.Get("places").As<Napi::Array>();
  for (uint32_t i = 0; i < places.Length(); ++i) {
    const auto place = places.Get(i).As<Napi::Array>();
    options.places.emplace_back(text(place.Get(0u)), text(place.Get(1u)));
  }
  options.drainInterval = std::chrono::milliseconds(static_cast<int64_t>(number(o.Get("drainIntervalMs"))));
  options.deadTtl = std::chrono::milliseconds(static_cast<int64_t>(number(o.Get("deadTtlMs"))));
  options.idleTtl = std::chrono::milliseconds(static_cast<int64_t>(number(o.Get("idleTtlMs"))));
  options.force = o.Get("force").ToBoolean();
  if (o.Get("owners").IsArray()) {
    options.owners.emplace();
    for (const double user : numbers(o.Get("owners"))) options.owners->push_back(static_cast<uid_t>(user));
  }
  options.tally = tallyOptions(o.Get("tally").As<Napi::Object>());
  return options;
}

// The numbers of known types, or 'all' for every event.
TapWants tapWants(const Napi::Value& types) {
  TapWants wants;
  wants.all = types.IsString();
  if (wants.all) return wants;
  for (const double type : numbers(types)) wants.types |= uint64_t{1} << static_cast<uint32_t>(type);
  return wants;
}

// (options, taps: [types, capacity][])
Napi::Value openSource(const Napi::CallbackInfo& info) {
  std::vector<std::shared_ptr<Tap>> taps;
  const auto asked = info[1].As<Napi::Array>();
  auto handles = Napi::Array::New(info.Env(), asked.Length());
  for (uint32_t i = 0; i < asked.Length(); ++i) {
    const auto one = asked.Get(i).As<Napi::Array>();
    taps.push_back(std::make_shared<Tap>(tapWants(one.Get(0u)), static_cast<size_t>(number(one.Get(1u)))));
    handles.Set(i, wrap(info.Env(), taps.back()));
  }
  auto source = Collector::instance().open(sourceOptions(info[0].As<Napi::Object>()), std::move(taps));
  environmentOf(info).sources.insert(source);
  auto opened = Napi::Object::New(info.Env());
  opened.Set("source", wrap(info.Env(), std::move(source)));
  opened.Set("taps", handles);
  return opened;
}

void closeSource(const Napi::CallbackInfo& info) {
  const std::shared_ptr<Source> source = held<Source>(info);
  environmentOf(info).sources.erase(source);
  Collector::instance().close(source);
}

Napi::Value drainNow(const Napi::CallbackInfo& info) {
  const auto limit = std::chrono::milliseconds(static_cast<int64_t>(number(info[0])));
  return Napi::Boolean::New(info.Env(), Collector::instance().drainNow(limit));
}

Napi::Value addReader(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), Collector::instance().addReader(held<Source>(info)));
}

void removeReader(const Napi::CallbackInfo& info) {
  Collector::instance().removeReader(held<Source>(info), static_cast<uint32_t>(number(info[1])));
}

// Numbers as 64-bit words; src/shm-bridge/snapshot.ts takes them apart in the same order.
class Words {
 public:
  void put(uint64_t word) { words_.push_back(word); }
  void put(double value) { words_.push_back(std::bit_cast<uint64_t>(value)); }
  void put(WideSum sum) {
    put(static_cast<uint64_t>(sum));
    put(static_cast<uint64_t>(sum >> 64));
  }
  void put(const std::vector<uint64_t>& counts) { words_.insert(words_.end(), counts.begin(), counts.end()); }
  Napi::ArrayBuffer toBuffer(Napi::Env env) const {
    auto buffer = Napi::ArrayBuffer::New(env, words_.size() * sizeof(uint64_t));
    std::memcpy(buffer.Data(), words_.data(), buffer.ByteLength());
    return buffer;
  }

 private:
  std::vector<uint64_t> words_;
};

void putTransfers(Words& words, const TransferTally& transfers) {
  words.put(transfers.count);
  words.put(transfers.sizeSum);
  words.put(transfers.sizes);
  words.put(transfers.durationSum);
  words.put(transfers.durations);
  words.put(transfers.throughputSum);
  words.put(transfers.throughputs);
}

// What one agent's events added up to.
void putTally(Words& words, std::vector<std::string>& strings, const Tally& tally) {
  words.put(tally.memoryInUse());
  words.put(uint64_t{tally.events().size()});
  for (const EventTally& event : tally.events()) {
    words.put(uint64_t{event.type});
    words.put(static_cast<uint64_t>(static_cast<int64_t>(event.category)));
    const bool named = !event.overflow && event.type == EventTally::kNoType;
    const bool histogram = event.buckets != nullptr;
    words.put(uint64_t{event.known} | uint64_t{event.overflow} << 1 | uint64_t{histogram} << 2 | uint64_t{named} << 3 |
              uint64_t{histogram ? event.bounds : 0} << 8);
    words.put(event.count);
    words.put(event.sum);
    words.put(event.last);
    words.put(event.counts);
    if (named) strings.push_back(toUtf8(event.name));
  }
  putTransfers(words, tally.transmit());
  putTransfers(words, tally.receive());
}

Napi::Array textArray(Napi::Env env, const std::vector<std::string>& strings) {
  auto texts = Napi::Array::New(env, strings.size());
  for (uint32_t i = 0; i < strings.size(); ++i) texts.Set(i, strings[i]);
  return texts;
}

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
  result.Set("words", words.toBuffer(env));
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

// --- taps ---

Napi::Value openTap(const Napi::CallbackInfo& info) {
  return wrap(info.Env(), Collector::instance().openTap(held<Source>(info), tapWants(info[1]),
                                                        static_cast<size_t>(number(info[2]))));
}

void closeTap(const Napi::CallbackInfo& info) {
  const auto& tap = *info[1].As<Napi::External<std::shared_ptr<Tap>>>().Data();
  Collector::instance().closeTap(held<Source>(info), tap);
}

Napi::Value takeTapped(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<TappedEvent> events = held<Tap>(info)->take(static_cast<size_t>(number(info[1])));
  auto ids = Napi::Float64Array::New(env, events.size());
  auto types = Napi::Uint32Array::New(env, events.size());
  auto values = Napi::Float64Array::New(env, events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    ids[i] = static_cast<double>(events[i].agentId);
    types[i] = events[i].key;
    values[i] = static_cast<double>(events[i].value);
  }
  auto batch = Napi::Object::New(env);
  batch.Set("length", static_cast<double>(events.size()));
  batch.Set("agentIds", ids);
  batch.Set("types", types);
  batch.Set("values", values);
  return batch;
}

// As takeTapped(), with all that is known of each event.
Napi::Value takeEvents(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<TappedEvent> events = held<Tap>(info)->take(static_cast<size_t>(number(info[1])));
  auto ids = Napi::Float64Array::New(env, events.size());
  auto keys = Napi::Uint32Array::New(env, events.size());
  auto values = Napi::BigUint64Array::New(env, events.size());
  auto times = Napi::Float64Array::New(env, events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    ids[i] = static_cast<double>(events[i].agentId);
    keys[i] = events[i].key;
    values[i] = events[i].value;
    times[i] = static_cast<double>(events[i].timeUs);
  }
  auto batch = Napi::Object::New(env);
  batch.Set("length", static_cast<double>(events.size()));
  batch.Set("agentIds", ids);
  batch.Set("keys", keys);
  batch.Set("values", values);
  batch.Set("timesUs", times);
  return batch;
}

void setSampling(const Napi::CallbackInfo& info) {
  held<Tap>(info)->setSampling(static_cast<uint64_t>(number(info[1])));
}

Napi::Value tapStats(const Napi::CallbackInfo& info) {
  const TapStats stats = held<Tap>(info)->stats();
  auto result = Napi::Object::New(info.Env());
  result.Set("seen", static_cast<double>(stats.seen));
  result.Set("kept", static_cast<double>(stats.kept));
  result.Set("sampledOut", static_cast<double>(stats.sampledOut));
  result.Set("overflowed", static_cast<double>(stats.overflowed));
  return result;
}

// --- one ring ---

// The same file opened twice in one process is one ring: the lock would refuse the second one otherwise.
struct SharedRing {
  std::mutex mutex;
  std::unique_ptr<RingReader> reader;
  ChunkBuffer buffer;
};

struct RingRegistry {
  std::mutex mutex;
  std::map<FileId, std::weak_ptr<SharedRing>> rings;
  static RingRegistry& instance() {
    static RingRegistry* const registry = new RingRegistry;  // leaked, as the collector is
    return *registry;
  }
};

Napi::Object kindObject(Napi::Env env, const RingLayout& layout, const RingEvent& event) {
  auto object = Napi::Object::New(env);
  if (layout.categorised()) object.Set("category", event.category);
  if (layout.named()) {
    object.Set("name", toUtf8(std::string(event.nameView())));
  } else {
    object.Set("type", event.type);
  }
  return object;
}

Napi::Object eventObject(Napi::Env env, const RingLayout& layout, const RingEvent& event) {
  auto object = kindObject(env, layout, event);
  if (layout.timestamped()) object.Set("timestampUs", Napi::BigInt::New(env, event.timestampUs));
  object.Set("value", Napi::BigInt::New(env, event.value));
  return object;
}

template <typename Array, typename T>
Array columnArray(Napi::Env env, const std::vector<T>& column) {
  auto array = Array::New(env, column.size());
  if (!column.empty()) std::memcpy(array.Data(), column.data(), column.size() * sizeof(T));
  return array;
}

Napi::Object columnsObject(Napi::Env env, const EventColumns& columns) {
  auto kinds = Napi::Array::New(env, columns.kinds().size());
  for (uint32_t i = 0; i < columns.kinds().size(); ++i) {
    const auto& [layout, event] = columns.kinds()[i];
    auto kind = kindObject(env, *layout, event);
    kind.Set("timestamped", layout->timestamped());
    kinds.Set(i, kind);
  }
  auto object = Napi::Object::New(env);
  object.Set("length", static_cast<double>(columns.size()));
  object.Set("kinds", kinds);
  object.Set("kindOf", columnArray<Napi::Uint32Array>(env, columns.kindOf()));
  object.Set("values", columnArray<Napi::BigUint64Array>(env, columns.values()));
  object.Set("timestampsUs", columnArray<Napi::BigUint64Array>(env, columns.timestampsUs()));
  return object;
}

Napi::Object ringInfo(Napi::Env env, RingState state, const std::string& reason) {
  auto result = Napi::Object::New(env);
  result.Set("state", toString(state));
  result.Set("reason", reason);
  return result;
}

Napi::Value openRing(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string path = text(info[0]);
  const bool force = info[1].ToBoolean();
  RingRegistry& registry = RingRegistry::instance();
  const std::lock_guard lock(registry.mutex);
  struct stat file;
  std::shared_ptr<SharedRing> ring;
  if (::lstat(path.c_str(), &file) == 0) {
    const auto known = registry.rings.find({file.st_dev, file.st_ino});
    if (known != registry.rings.end()) ring = known->second.lock();
  }
  if (ring == nullptr) {
    RingState state = RingState::kAbsent;
    std::string reason;
    ring = std::make_shared<SharedRing>();
    ring->reader = RingReader::open(path, force, state, reason);
    if (ring->reader == nullptr) return ringInfo(env, state, reason);
    std::erase_if(registry.rings, [](const auto& entry) { return entry.second.expired(); });
    registry.rings[ring->reader->id()] = ring;
  }
  auto result = ringInfo(env, RingState::kReady, "");
  result.Set("handle", wrap(env, std::move(ring)));
  return result;
}

void closeRing(const Napi::CallbackInfo& info) { held<SharedRing>(info).reset(); }

Napi::Value drainRing(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<SharedRing> ring = held<SharedRing>(info);
  const std::lock_guard lock(ring->mutex);
  std::vector<std::pair<const RingLayout*, RingEvent>> events;
  ring->reader->drain(static_cast<uint64_t>(number(info[1])), ring->buffer, [&](const RingReader::Chunk& chunk) {
    for (uint32_t i = 0; i < chunk.count; ++i) {
      events.emplace_back(&chunk.layout,
                          decodeSlot(chunk.layout.slot, chunk.slots + size_t{i} * chunk.layout.slot.size));
    }
  });
  auto result = Napi::Array::New(env, events.size());
  for (uint32_t i = 0; i < events.size(); ++i) result.Set(i, eventObject(env, *events[i].first, events[i].second));
  return result;
}

// As drainRing(), in columns.
Napi::Value drainColumns(const Napi::CallbackInfo& info) {
  const std::shared_ptr<SharedRing> ring = held<SharedRing>(info);
  const std::lock_guard lock(ring->mutex);
  EventColumns columns;
  ring->reader->drain(static_cast<uint64_t>(number(info[1])), ring->buffer,
                      [&](const RingReader::Chunk& chunk) { columns.add(chunk.layout, chunk.slots, chunk.count); });
  return columnsObject(info.Env(), columns);
}

Napi::Value ringStats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<SharedRing> ring = held<SharedRing>(info);
  const std::lock_guard lock(ring->mutex);
  const HeaderFields header = readHeader(ring->reader->fd());
  const DrainStats stats = ring->reader->stats();
  auto result = ringInfo(env, header.state, header.reason);
  result.Set("wireVersion", ring->reader->layout().version);
  result.Set("capacity", static_cast<double>(ring->reader->capacity()));
  result.Set("slotBytes", ring->reader->layout().slot.size);
  const bool ready = header.state == RingState::kReady;
  result.Set("pending", ready ? static_cast<double>((header.writePos - header.readPos) & (header.capacity - 1)) : 0.0);
  result.Set("drained", Napi::BigInt::New(env, stats.drained));
  result.Set("restarts", stats.restarts);
  result.Set("foreignMoves", stats.foreignMoves);
  result.Set("suspect", stats.suspect);
  return result;
}

// What stands in a file, without taking or holding anything.
Napi::Value inspectRing(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const RingFile file = RingFile::open(text(info[0]), RingAccess::kObserve, info[1].ToBoolean());
  auto result = ringInfo(env, file.state, file.reason);
  if (file.state != RingState::kReady) return result;
  const HeaderFields& header = file.header;
  result.Set("wireVersion", header.version);
  result.Set("capacity", static_cast<double>(header.capacity));
  result.Set("slotBytes", header.layout->slot.size);
  result.Set("writePos", static_cast<double>(header.writePos));
  result.Set("readPos", static_cast<double>(header.readPos));
  result.Set("pending", static_cast<double>((header.writePos - header.readPos) & (header.capacity - 1)));
  result.Set("consumed", isMark(header.expectedVersion));
  return result;
}

// (paths): the process that writes each of them, 0 where none can be seen.
Napi::Value findWriters(const Napi::CallbackInfo& info) {
  const auto paths = info[0].As<Napi::Array>();
  std::vector<FileId> files;
  for (uint32_t i = 0; i < paths.Length(); ++i) {
    struct stat file{};
    ::lstat(text(paths.Get(i)).c_str(), &file);
    files.push_back({file.st_dev, file.st_ino});
  }
  WriterSearch search;
  search.begin({files.begin(), files.end()}, allFileLocks());
  while (!search.step(Clock::time_point::max())) {
  }
  auto pids = Napi::Array::New(info.Env(), files.size());
  for (uint32_t i = 0; i < files.size(); ++i) {
    const auto writer = search.found().find(files[i]);
    pids.Set(i, writer == search.found().end() ? 0.0 : static_cast<double>(writer->second.pid));
  }
  return pids;
}

Napi::Value openObserver(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  RingFile file = RingFile::open(text(info[0]), RingAccess::kObserve, info[1].ToBoolean());
  auto result = ringInfo(env, file.state, file.reason);
  if (file.state != RingState::kReady) return result;
  result.Set("handle", wrap(env, std::make_shared<RingObserver>(std::move(file))));
  return result;
}

void closeObserver(const Napi::CallbackInfo& info) { held<RingObserver>(info).reset(); }

Napi::Object observationInfo(Napi::Env env, const Observation& seen) {
  auto result = ringInfo(env, seen.state, seen.reason);
  result.Set("lapped", seen.lapped);
  result.Set("stalled", seen.stalled);
  result.Set("restarted", seen.restarted);
  return result;
}

Napi::Value observe(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Observation seen = held<RingObserver>(info)->look(static_cast<size_t>(number(info[1])));
  const std::vector<RingEvent> found = seen.events();
  auto events = Napi::Array::New(env, found.size());
  for (uint32_t i = 0; i < found.size(); ++i) events.Set(i, eventObject(env, *seen.layout, found[i]));
  auto result = observationInfo(env, seen);
  result.Set("events", events);
  return result;
}

// As observe(), in columns.
Napi::Value observeColumns(const Napi::CallbackInfo& info) {
  const Observation seen = held<RingObserver>(info)->look(static_cast<size_t>(number(info[1])));
  EventColumns columns;
  if (seen.layout != nullptr) columns.add(*seen.layout, seen.slots.data(), seen.count());
  auto result = observationInfo(info.Env(), seen);
  result.Set("events", columnsObject(info.Env(), columns));
  return result;
}

// Looking on at what events add up to: nothing crosses over per event.
struct TallyingObserver {
  TallyingObserver(RingFile file, std::shared_ptr<const TallyPlan> plan)
      : observer(std::move(file)), tally(std::move(plan)) {}
  RingObserver observer;
  Tally tally;
};

// (path, force, tallyOptions)
Napi::Value openTallyingObserver(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  RingFile file = RingFile::open(text(info[0]), RingAccess::kObserve, info[1].ToBoolean());
  auto result = ringInfo(env, file.state, file.reason);
  if (file.state != RingState::kReady) return result;
  auto plan = std::make_shared<const TallyPlan>(tallyOptions(info[2].As<Napi::Object>()));
  result.Set("handle", wrap(env, std::make_shared<TallyingObserver>(std::move(file), std::move(plan))));
  return result;
}

void closeTallyingObserver(const Napi::CallbackInfo& info) { held<TallyingObserver>(info).reset(); }

// (observer, most)
Napi::Value observeAndTally(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  TallyingObserver& observing = *held<TallyingObserver>(info);
  const Observation seen = observing.observer.look(static_cast<size_t>(number(info[1])));
  if (seen.restarted) observing.tally.restart();
  if (seen.lapped) observing.tally.markMemoryApproximate();
  if (seen.count() != 0) {
    std::vector<TappedEvent> none;
    observing.tally.fold({*seen.layout, seen.slots.data(), static_cast<uint32_t>(seen.count()), seen.lapped, 0}, {},
                         none);
  }
  auto result = observationInfo(env, seen);
  result.Set("found", static_cast<double>(seen.count()));
  if (seen.layout == nullptr) return result;
  result.Set("wireVersion", seen.layout->version);
  result.Set("capacity", static_cast<double>(seen.capacity));
  result.Set("pending", static_cast<double>(seen.pending));
  return result;
}

Napi::Value tallyOf(const Napi::CallbackInfo& info) {
  Words words;
  std::vector<std::string> strings;
  putTally(words, strings, held<TallyingObserver>(info)->tally);
  auto result = Napi::Object::New(info.Env());
  result.Set("words", words.toBuffer(info.Env()));
  result.Set("strings", textArray(info.Env(), strings));
  return result;
}

// --- writing ---

Napi::Value openWriter(const Napi::CallbackInfo& info) {
  auto writer = std::make_shared<RingWriter>();
  const std::string problem =
      writer->create(text(info[0]), static_cast<int32_t>(number(info[1])), static_cast<uint64_t>(number(info[2])));
  if (!problem.empty()) return Napi::String::New(info.Env(), problem);
  return wrap(info.Env(), std::move(writer));
}

void closeWriter(const Napi::CallbackInfo& info) { held<RingWriter>(info).reset(); }

// (writer, type, name, category, timestampUs, value)
Napi::Value push(const Napi::CallbackInfo& info) {
  RingEvent event;
  bool lossless = false;
  event.type = static_cast<uint32_t>(number(info[1]));
  event.setName(text(info[2]));
  event.category = static_cast<int32_t>(number(info[3]));
  event.timestampUs = info[4].As<Napi::BigInt>().Uint64Value(&lossless);
  event.value = info[5].As<Napi::BigInt>().Uint64Value(&lossless);
  return Napi::Boolean::New(info.Env(), held<RingWriter>(info)->push(event));
}

Napi::Value pendingOf(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(held<RingWriter>(info)->pending()));
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  env.SetInstanceData(new Environment);
  const auto add = [&](const char* name, auto function) {
    exports.Set(name, Napi::Function::New(env, function, name));
  };
  add("openSource", openSource);
  add("closeSource", closeSource);
  add("drainNow", drainNow);
  add("addReader", addReader);
  add("removeReader", removeReader);
  add("snapshot", snapshot);
  add("openTap", openTap);
  add("closeTap", closeTap);
  add("takeTapped", takeTapped);
  add("takeEvents", takeEvents);
  add("setSampling", setSampling);
  add("tapStats", tapStats);
  add("openRing", openRing);
  add("closeRing", closeRing);
  add("drainRing", drainRing);
  add("drainColumns", drainColumns);
  add("ringStats", ringStats);
  add("inspectRing", inspectRing);
  add("findWriters", findWriters);
  add("openObserver", openObserver);
  add("closeObserver", closeObserver);
  add("observe", observe);
  add("observeColumns", observeColumns);
  add("openTallyingObserver", openTallyingObserver);
  add("closeTallyingObserver", closeTallyingObserver);
  add("observeAndTally", observeAndTally);
  add("tallyOf", tallyOf);
  add("openWriter", openWriter);
  add("closeWriter", closeWriter);
  add("push", push);
  add("pendingOf", pendingOf);
  return exports;
}

}  // namespace

NODE_API_MODULE(nixl_otel, init)
