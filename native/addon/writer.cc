// Functions that write rings.

#include <cstring>

#include "addon/functions.h"
#include "addon/values.h"
#include "ring_writer.h"
#include "sigbus_guard.h"

namespace nixl_otel::addon {

namespace {

// A writer that survives the truncation of its file. Then the ring is lost: push() returns false for every event.
class GuardedWriter {
 public:
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
    return touch([&] { pushed = writer_.push(event); }) && pushed;
  }

  uint64_t pending() {
    uint64_t pending = 0;
    return touch([&] { pending = writer_.pending(); }) ? pending : 0;
  }

  bool lost() const { return !writer_.open(); }

 private:
  // Runs access() under a claim. False if the ring is lost.
  template <typename Access>
  bool touch(Access&& access) {
    if (lost()) return false;
    bool faulted = false;
    {
      const MappingClaim claim(writer_.memory(), writer_.bytes());
      access();
      faulted = claim.faulted();
    }
    // After a fault the mapping has private pages: no other process would see a store.
    if (faulted) writer_.close();
    return !faulted;
  }

  RingWriter writer_;
};

Napi::Value openWriter(const Napi::CallbackInfo& info) {
  auto writer = std::make_shared<GuardedWriter>();
  const std::string problem =
      writer->create(text(info[0]), static_cast<int32_t>(number(info[1])), static_cast<uint64_t>(number(info[2])));
  if (!problem.empty()) return Napi::String::New(info.Env(), problem);
  return wrap(info.Env(), std::move(writer));
}

void closeWriter(const Napi::CallbackInfo& info) { held<GuardedWriter>(info).reset(); }

// (writer, type, name, category, timestampUs, value)
Napi::Value push(const Napi::CallbackInfo& info) {
  RingEvent event;
  bool lossless = false;
  event.type = static_cast<uint32_t>(number(info[1]));
  event.setName(text(info[2]));
  event.category = static_cast<int32_t>(number(info[3]));
  event.timestampUs = info[4].As<Napi::BigInt>().Uint64Value(&lossless);
  event.value = info[5].As<Napi::BigInt>().Uint64Value(&lossless);
  return Napi::Boolean::New(info.Env(), held<GuardedWriter>(info)->push(event));
}

Napi::Value pendingOf(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(held<GuardedWriter>(info)->pending()));
}

Napi::Value writerLost(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), held<GuardedWriter>(info)->lost());
}

}  // namespace

void addWriter(Napi::Object exports) {
  add(exports, "openWriter", openWriter);
  add(exports, "closeWriter", closeWriter);
  add(exports, "push", push);
  add(exports, "pendingOf", pendingOf);
  add(exports, "writerLost", writerLost);
}

}  // namespace nixl_otel::addon
