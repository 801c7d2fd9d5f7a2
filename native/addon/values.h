// Conversions between values of JavaScript and C++. They check no argument: the callers in TypeScript do.
#pragma once

#include <napi.h>

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "addon/words.h"
#include "ring/ring_file.h"

namespace nixl_otel::addon {

// In an environment that ends, this throws, and `held` is released: a ring or its lock must not outlive a worker.
template <typename T>
Napi::Value wrap(Napi::Env env, std::shared_ptr<T> held) {
  auto kept = std::make_unique<std::shared_ptr<T>>(std::move(held));
  const auto handle =
      Napi::External<std::shared_ptr<T>>::New(env, kept.get(), [](Napi::Env, std::shared_ptr<T>* p) { delete p; });
  kept.release();
  return handle;
}

template <typename T>
std::shared_ptr<T>& held(const Napi::CallbackInfo& info) {
  return *info[0].As<Napi::External<std::shared_ptr<T>>>().Data();
}

// Releases what the handle holds.
template <typename T>
void release(const Napi::CallbackInfo& info) {
  held<T>(info).reset();
}

inline std::string text(const Napi::Value& value) { return value.As<Napi::String>().Utf8Value(); }
inline double number(const Napi::Value& value) { return value.As<Napi::Number>().DoubleValue(); }
inline uint64_t whole(const Napi::Value& value) { return static_cast<uint64_t>(number(value)); }

inline std::vector<double> numbers(const Napi::Value& value) {
  const auto array = value.As<Napi::Array>();
  std::vector<double> out;
  for (uint32_t i = 0; i < array.Length(); ++i) out.push_back(number(array.Get(i)));
  return out;
}

inline std::vector<std::string> texts(const Napi::Value& value) {
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> out;
  for (uint32_t i = 0; i < array.Length(); ++i) out.push_back(text(array.Get(i)));
  return out;
}

inline Napi::Array textArray(Napi::Env env, const std::vector<std::string>& strings) {
  auto texts = Napi::Array::New(env, strings.size());
  for (uint32_t i = 0; i < strings.size(); ++i) texts.Set(i, strings[i]);
  return texts;
}

// An array with an object for each item, whose fields put(object, item) sets.
template <typename Items, typename Put>
Napi::Array objectArray(Napi::Env env, const Items& items, Put&& put) {
  auto objects = Napi::Array::New(env, items.size());
  for (uint32_t i = 0; i < items.size(); ++i) {
    auto object = Napi::Object::New(env);
    put(object, items[i]);
    objects.Set(i, object);
  }
  return objects;
}

inline Napi::Object ringInfo(Napi::Env env, RingState state, const std::string& reason) {
  auto result = Napi::Object::New(env);
  result.Set("state", toString(state));
  result.Set("reason", reason);
  return result;
}

inline Napi::ArrayBuffer wordBuffer(Napi::Env env, const Words& words) {
  const std::span<const uint64_t> all = words.all();
  auto buffer = Napi::ArrayBuffer::New(env, all.size_bytes());
  std::memcpy(buffer.Data(), all.data(), all.size_bytes());
  return buffer;
}

// A tally as words and names.
inline Napi::Object totalsObject(Napi::Env env, const Tally& tally) {
  Words words;
  std::vector<std::string> strings;
  putTally(words, tally);
  putNames(strings, tally);
  auto totals = Napi::Object::New(env);
  totals.Set("words", wordBuffer(env, words));
  totals.Set("strings", textArray(env, strings));
  return totals;
}

// Adds a function to the module. Its result becomes a value of JavaScript.
template <typename F>
void add(Napi::Object exports, const char* name, F function) {
  const auto call = [function](const Napi::CallbackInfo& info) -> Napi::Value {
    if constexpr (std::is_void_v<decltype(function(info))>) {
      function(info);
      return info.Env().Undefined();
    } else {
      return Napi::Value::From(info.Env(), function(info));
    }
  };
  exports.Set(name, Napi::Function::New(exports.Env(), call, name));
}

}  // namespace nixl_otel::addon
