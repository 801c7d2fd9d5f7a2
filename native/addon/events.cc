#include "addon/events.h"

#include <cstring>
#include <string>
#include <vector>

#include "addon/values.h"
#include "posix/posix.h"

namespace nixl_otel::addon {
namespace {

template <typename Array, typename T>
Array columnArray(Napi::Env env, const std::vector<T>& column) {
  auto array = Array::New(env, column.size());
  if (!column.empty()) std::memcpy(array.Data(), column.data(), column.size() * sizeof(T));
  return array;
}

}  // namespace

Napi::Object columnsObject(Napi::Env env, const EventColumns& columns) {
  auto object = Napi::Object::New(env);
  object.Set("length", columns.size());
  object.Set("kinds", objectArray(env, columns.kinds(), [](Napi::Object kind, const EventColumns::Kind& found) {
               const auto& [layout, event] = found;
               if (layout->categorised()) kind.Set("category", event.category);
               if (layout->named()) {
                 kind.Set("name", toUtf8(std::string(event.nameView())));
               } else {
                 kind.Set("type", event.type);
               }
               kind.Set("timestamped", layout->timestamped());
             }));
  object.Set("kindOf", columnArray<Napi::Uint32Array>(env, columns.kindOf()));
  object.Set("values", columnArray<Napi::BigUint64Array>(env, columns.values()));
  object.Set("timestampsUs", columnArray<Napi::BigUint64Array>(env, columns.timestampsUs()));
  return object;
}

}  // namespace nixl_otel::addon
