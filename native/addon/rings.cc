#include "addon/rings.h"

#include <sys/stat.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "addon/events.h"
#include "addon/functions.h"
#include "addon/values.h"
#include "ring_reader.h"
#include "writer_search.h"

namespace nixl_otel::addon {

Napi::Object ringInfo(Napi::Env env, RingState state, const std::string& reason) {
  auto result = Napi::Object::New(env);
  result.Set("state", toString(state));
  result.Set("reason", reason);
  return result;
}

namespace {

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
  while (!search.step(std::chrono::steady_clock::time_point::max())) {
  }
  auto pids = Napi::Array::New(info.Env(), files.size());
  for (uint32_t i = 0; i < files.size(); ++i) {
    const auto writer = search.found().find(files[i]);
    pids.Set(i, writer == search.found().end() ? 0.0 : static_cast<double>(writer->second.pid));
  }
  return pids;
}

}  // namespace

void addRings(Napi::Object exports) {
  add(exports, "openRing", openRing);
  add(exports, "closeRing", closeRing);
  add(exports, "drainRing", drainRing);
  add(exports, "drainColumns", drainColumns);
  add(exports, "ringStats", ringStats);
  add(exports, "inspectRing", inspectRing);
  add(exports, "findWriters", findWriters);
}

}  // namespace nixl_otel::addon
