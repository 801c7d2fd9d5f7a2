// Rings that a JavaScript caller opens by their paths. A list in parentheses before a function names its arguments in
// JavaScript.

#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addon/events.h"
#include "addon/functions.h"
#include "addon/options.h"
#include "addon/values.h"
#include "posix/posix.h"
#include "process/writer_search.h"
#include "ring/ring_reader.h"
#include "state/ended_ring.h"
#include "state/state_file.h"
#include "sync/mutex.h"

namespace nixl_otel::addon {

namespace {

// A ring that all handles to its file in this process share: the file lock admits only one reader.
struct SharedRing {
  explicit SharedRing(std::unique_ptr<RingReader> opened) : reader(std::move(opened)) {}
  Mutex mutex;
  const std::unique_ptr<RingReader> reader GUARDED_BY(mutex);
  ChunkBuffer buffer GUARDED_BY(mutex);
};

struct RingRegistry {
  Mutex mutex;
  std::map<FileId, std::weak_ptr<SharedRing>> rings GUARDED_BY(mutex);
  static RingRegistry& instance() {
    static RingRegistry* const registry = new RingRegistry;  // never destroyed: workers may use it at process exit
    return *registry;
  }
};

Napi::Value openRing(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string path = text(info[0]);
  const bool force = info[1].ToBoolean();
  RingRegistry& registry = RingRegistry::instance();
  const MutexLock lock(registry.mutex);
  std::shared_ptr<SharedRing> ring;
  if (const auto file = fileAt(path)) {
    const auto known = registry.rings.find(*file);
    if (known != registry.rings.end()) ring = known->second.lock();
  }
  if (ring == nullptr) {
    RingState state = RingState::kAbsent;
    std::string reason;
    auto reader = RingReader::open(path, force, state, reason);
    if (reader == nullptr) return ringInfo(env, state, reason);
    const FileId id = reader->id();
    ring = std::make_shared<SharedRing>(std::move(reader));
    std::erase_if(registry.rings, [](const auto& entry) { return entry.second.expired(); });
    registry.rings[id] = ring;
  }
  auto result = ringInfo(env, RingState::kReady, "");
  result.Set("handle", wrap(env, std::move(ring)));
  return result;
}

// (ring, most)
Napi::Value drainColumns(const Napi::CallbackInfo& info) {
  const std::shared_ptr<SharedRing> ring = held<SharedRing>(info);
  const MutexLock lock(ring->mutex);
  EventColumns columns;
  ring->reader->drain(static_cast<uint64_t>(number(info[1])), ring->buffer,
                      [&](const RingReader::Chunk& chunk) { columns.add(chunk.layout, chunk.slots, chunk.count); });
  return columnsObject(info.Env(), columns);
}

Napi::Value ringStats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<SharedRing> ring = held<SharedRing>(info);
  const MutexLock lock(ring->mutex);
  const HeaderFields header = readHeader(ring->reader->fd());
  const DrainStats stats = ring->reader->stats();
  auto result = ringInfo(env, header.state, header.reason);
  result.Set("wireVersion", ring->reader->layout().version);
  result.Set("capacity", ring->reader->capacity());
  result.Set("slotBytes", ring->reader->layout().slot.size);
  const bool ready = header.state == RingState::kReady;
  result.Set("pending", ready ? (header.writePos - header.readPos) & (header.capacity - 1) : 0);
  result.Set("drained", Napi::BigInt::New(env, stats.drained));
  result.Set("restarts", stats.restarts);
  result.Set("foreignMoves", stats.foreignMoves);
  result.Set("suspect", stats.suspect);
  return result;
}

// Returns a handle that holds the lock, or the reason why there is none.
Napi::Value lockDirectoryAt(const Napi::CallbackInfo& info) {
  FileDescriptor directory = lockDirectory(text(info[0]));
  if (directory.valid()) return wrap(info.Env(), std::make_shared<FileDescriptor>(std::move(directory)));
  const bool isTaken = errno == EWOULDBLOCK;
  return Napi::String::New(info.Env(), isTaken ? "locked by another process" : std::strerror(errno));
}

// Reads the header of a ring without draining, locking or keeping the file open.
Napi::Value inspectRing(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const RingFile file = RingFile::open(text(info[0]), RingAccess::kObserve, info[1].ToBoolean());
  auto result = ringInfo(env, file.state, file.reason);
  if (file.state != RingState::kReady) return result;
  const HeaderFields& header = file.header;
  result.Set("wireVersion", header.version);
  result.Set("capacity", header.capacity);
  result.Set("slotBytes", header.layout->slot.size);
  result.Set("writePos", header.writePos);
  result.Set("readPos", header.readPos);
  result.Set("pending", (header.writePos - header.readPos) & (header.capacity - 1));
  result.Set("consumed", isMark(header.expectedVersion));
  return result;
}

// (path, tallyOptions?): returns the times of the ring's state file, with options its tally as well, or undefined.
Napi::Value readStateOf(const Napi::CallbackInfo& info) {
  std::optional<Tally> tally;
  if (info[1].IsObject()) tally.emplace(planFor(tallyOptions(info[1].As<Napi::Object>())));
  const auto state = readState(text(info[0]), tally ? &*tally : nullptr);
  if (!state) return info.Env().Undefined();
  auto result = tally ? totalsObject(info.Env(), *tally) : Napi::Object::New(info.Env());
  result.Set("startTimeMs", state->startTimeMs);
  if (state->lastEventMs != 0) result.Set("lastEventMs", state->lastEventMs);
  result.Set("writerEnded", state->writerEnded);
  return result;
}

// A ring's file and header at one moment.
struct SeenRing {
  FileId file;
  HeaderFields header;
};

// (path): returns a handle for removeEndedRing(), or the reason for which the file is no ring.
Napi::Value lookAtRing(const Napi::CallbackInfo& info) {
  const std::string path = text(info[0]);
  auto seen = std::make_shared<SeenRing>();
  seen->file = fileAt(path).value_or(FileId{});
  seen->header = peekHeader(path, seen->file);
  const std::string& reason = seen->header.reason;
  if (seen->header.state != RingState::kReady) return Napi::String::New(info.Env(), reason);
  return wrap(info.Env(), std::move(seen));
}

// (seen, path, names?, stateTtlMs, dryRun): returns why the ring stays, or "".
Napi::Value removeSeenRing(const Napi::CallbackInfo& info) {
  const std::shared_ptr<SeenRing> seen = held<SeenRing>(info);
  RemovalRule rule;
  if (info[2].IsArray()) rule.names = texts(info[2]);
  rule.stateTtl = std::chrono::milliseconds(static_cast<int64_t>(number(info[3])));
  rule.dryRun = info[4].ToBoolean();
  return Napi::String::New(info.Env(), removeEndedRing(text(info[1]), seen->file, seen->header, rule));
}

// (paths): returns the pids of each ring's writers that are visible, the youngest process first.
Napi::Value findWriters(const Napi::CallbackInfo& info) {
  const auto paths = info[0].As<Napi::Array>();
  std::vector<FileId> files;
  for (uint32_t i = 0; i < paths.Length(); ++i) files.push_back(fileAt(text(paths.Get(i))).value_or(FileId{}));
  WriterSearch search;
  search.begin({files.begin(), files.end()}, allFileLocks());
  while (!search.step(std::chrono::steady_clock::time_point::max())) {
  }
  auto pids = Napi::Array::New(info.Env(), files.size());
  for (uint32_t i = 0; i < files.size(); ++i) {
    const auto writers = search.found().find(files[i]);
    auto found = Napi::Array::New(info.Env());
    if (writers != search.found().end()) {
      for (uint32_t j = 0; j < writers->second.size(); ++j) found.Set(j, writers->second[j].pid);
    }
    pids.Set(i, found);
  }
  return pids;
}

}  // namespace

void addRings(Napi::Object exports) {
  add(exports, "openRing", openRing);
  add(exports, "closeRing", release<SharedRing>);
  add(exports, "drainColumns", drainColumns);
  add(exports, "ringStats", ringStats);
  add(exports, "inspectRing", inspectRing);
  add(exports, "readState", readStateOf);
  add(exports, "lockDirectory", lockDirectoryAt);
  add(exports, "findWriters", findWriters);
  add(exports, "lookAtRing", lookAtRing);
  add(exports, "removeEndedRing", removeSeenRing);
}

}  // namespace nixl_otel::addon
