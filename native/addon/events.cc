#include "addon/events.h"

#include <cstring>
#include <string>
#include <vector>

#include "posix/posix.h"

namespace nixl_otel::addon {
namespace {

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

template <typename Array, typename T>
Array columnArray(Napi::Env env, const std::vector<T>& column) {
  auto array = Array::New(env, column.size());
  if (!column.empty()) std::memcpy(array.Data(), column.data(), column.size() * sizeof(T));
  return array;
}

}  // namespace

Napi::Object eventObject(Napi::Env env, const RingLayout& layout, const RingEvent& event) {
  auto object = kindObject(env, layout, event);
  if (layout.timestamped()) object.Set("timestampUs", Napi::BigInt::New(env, event.timestampUs));
  object.Set("value", Napi::BigInt::New(env, event.value));
  return object;
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

}  // namespace nixl_otel::addon
