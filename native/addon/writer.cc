// Publishing events.

#include "addon/functions.h"
#include "addon/values.h"
#include "ring_writer.h"

namespace nixl_otel::addon {

namespace {

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

}  // namespace

void addWriter(Napi::Object exports) {
  add(exports, "openWriter", openWriter);
  add(exports, "closeWriter", closeWriter);
  add(exports, "push", push);
  add(exports, "pendingOf", pendingOf);
}

}  // namespace nixl_otel::addon
