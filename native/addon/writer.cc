// Functions that write rings.

#include <cstring>

#include "addon/functions.h"
#include "addon/values.h"
#include "posix/sigbus_guard.h"
#include "ring/ring_writer.h"

namespace nixl_otel::addon {

namespace {

// A writer that survives the truncation of its file. Then the ring is lost: push() returns false for every event, as it
// does once another program writes the ring.
class GuardedWriter {
 public:
  // Returns "" or an error message. isInUse() tells whether another writer holds the file.
  std::string create(const std::string& path, int32_t version, uint64_t capacity) {
    if (const int problem = guardMappings(); problem != 0) {
      return "cannot guard the mapping of " + path + ": " + std::strerror(problem);
    }
    const std::string problem = writer_.map(path, version, capacity);
    if (!problem.empty()) return problem;
    return touch([&] { writer_.begin(); }) ? "" : path + " was truncated while the ring was made";
  }

  bool push(const RingEvent& event) {
    bool pushed = false;
    const bool touched = touch([&] { pushed = writer_.push(event); });
    // Unmaps the file, so that this process is no writer of the ring any more.
    if (touched && writer_.state() == WriterState::kOvertaken) writer_.close();
    return touched && pushed;
  }

  uint64_t pending() {
    uint64_t pending = 0;
    return touch([&] { pending = writer_.pending(); }) ? pending : 0;
  }

  bool isInUse() const { return writer_.state() == WriterState::kInUse; }
  // Returns why the writer accepts no further event, or "".
  const char* fault() const {
    if (writer_.open()) return "";
    return truncated_ ? "truncated" : "overtaken";
  }

 private:
  // Runs access() under a claim. False if the ring is lost.
  template <typename Access>
  bool touch(Access&& access) {
    if (!writer_.open()) return false;
    bool faulted = false;
    {
      const MappingClaim claim(writer_.memory(), writer_.bytes());
      access();
      faulted = claim.faulted();
    }
    // After a fault the mapping has private pages: no other process would see a store.
    if (faulted) {
      truncated_ = true;
      writer_.close();
    }
    return !faulted;
  }

  RingWriter writer_;
  bool truncated_ = false;
};

// (path, wireVersion, capacity): returns { handle }, or { reason, inUse }.
Napi::Value openWriter(const Napi::CallbackInfo& info) {
  auto writer = std::make_shared<GuardedWriter>();
  const std::string problem =
      writer->create(text(info[0]), static_cast<int32_t>(number(info[1])), static_cast<uint64_t>(number(info[2])));
  auto result = Napi::Object::New(info.Env());
  if (problem.empty()) {
    result.Set("handle", wrap(info.Env(), std::move(writer)));
  } else {
    result.Set("reason", problem);
    result.Set("inUse", writer->isInUse());
  }
  return result;
}

// (writer, type, name, category, timestampUs, value)
bool push(const Napi::CallbackInfo& info) {
  RingEvent event;
  bool lossless = false;
  event.type = static_cast<uint32_t>(number(info[1]));
  event.setName(text(info[2]));
  event.category = static_cast<int32_t>(number(info[3]));
  event.timestampUs = info[4].As<Napi::BigInt>().Uint64Value(&lossless);
  event.value = info[5].As<Napi::BigInt>().Uint64Value(&lossless);
  return held<GuardedWriter>(info)->push(event);
}

}  // namespace

void addWriter(Napi::Object exports) {
  add(exports, "openWriter", openWriter);
  add(exports, "closeWriter", release<GuardedWriter>);
  add(exports, "push", push);
  add(exports, "pendingOf", [](const Info& info) { return held<GuardedWriter>(info)->pending(); });
  add(exports, "writerFault", [](const Info& info) { return held<GuardedWriter>(info)->fault(); });
}

}  // namespace nixl_otel::addon
