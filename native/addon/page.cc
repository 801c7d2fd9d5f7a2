// Pages of metrics: templates, and the numbers in them.

#include <cstring>
#include <span>
#include <vector>

#include "addon/functions.h"
#include "addon/values.h"
#include "page/fill.h"

namespace nixl_otel::addon {

namespace {

template <typename T>
std::span<T> elements(const Napi::Value& value) {
  const auto array = value.As<Napi::TypedArray>();
  if (array.ByteLength() == 0) return {};
  auto* const begin = static_cast<std::byte*>(array.ArrayBuffer().Data()) + array.ByteOffset();
  return {reinterpret_cast<T*>(begin), array.ByteLength() / sizeof(T)};
}

// (steps, bytes, familyEnds, words, given): a template for agents with so many words and given numbers. Uint32Array
// with four words of each step, see page/template.h; Uint8Array; Uint32Array.
Napi::Value makeTemplate(const Napi::CallbackInfo& info) {
  std::string reason;
  const std::span<const uint32_t> words = elements<const uint32_t>(info[0]);
  std::vector<Step> steps(words.size_bytes() / sizeof(Step));
  if (!steps.empty()) std::memcpy(steps.data(), words.data(), steps.size() * sizeof(Step));
  std::shared_ptr<const Template> made =
      Template::of(steps, elements<const uint8_t>(info[1]), elements<const uint32_t>(info[2]),
                   static_cast<uint64_t>(number(info[3])), static_cast<uint64_t>(number(info[4])), reason);
  if (made == nullptr) throw Napi::Error::New(info.Env(), "no template of a page: " + reason);
  return wrap(info.Env(), std::move(made));
}

// (room, end, heads, headEnds, flags, templates, words, places, given, first, familyEnds): appends the families from
// `first` on to the page in `room`, which ends at `end`. `heads` up to each of `headEnds`: the bytes in front of each
// family. `flags`: bit 0: families are messages, bit 1: they are kept without series. Of each agent: its template; the
// index of its first word in the ArrayBuffer `words` and their number; the end of its numbers in the Float64Array
// `given`. Sets each of `familyEnds` to the end of a family on the page. Returns the end of the page, or -1 if the room
// is too small.
Napi::Value fillPage(const Napi::CallbackInfo& info) {
  const auto wrong = [&](const char* what) { return Napi::Error::New(info.Env(), what); };
  const auto room = elements<uint8_t>(info[0]);
  const auto end = static_cast<size_t>(number(info[1]));
  if (end > room.size()) throw wrong("a page ends behind its room");
  PageRoom page(room, end);
  const auto heads = elements<const uint8_t>(info[2]);
  const auto headEnds = elements<const uint32_t>(info[3]);
  const auto flags = static_cast<uint32_t>(number(info[4]));
  const auto templates = info[5].As<Napi::Array>();
  auto buffer = info[6].As<Napi::ArrayBuffer>();
  const std::span<const uint64_t> words(static_cast<const uint64_t*>(buffer.Data()),
                                        buffer.ByteLength() / sizeof(uint64_t));
  const auto places = elements<const uint32_t>(info[7]);
  const auto given = elements<const double>(info[8]);
  const auto first = static_cast<size_t>(number(info[9]));
  const auto familyEnds = elements<uint32_t>(info[10]);
  const size_t families = first + familyEnds.size();

  std::vector<Filling> agents(templates.Length());
  if (places.size() != 3 * agents.size() || headEnds.size() < families) throw wrong("a page has too few places");
  size_t givenBegin = 0;
  for (uint32_t i = 0; i < agents.size(); ++i) {
    const uint32_t at = places[3 * i], length = places[3 * i + 1], givenEnd = places[3 * i + 2];
    if (at > words.size() || length > words.size() - at) throw wrong("an agent has words that are not there");
    if (givenEnd < givenBegin || givenEnd > given.size()) throw wrong("an agent has numbers that are not there");
    const auto held = templates.Get(i).As<Napi::External<std::shared_ptr<const Template>>>();
    agents[i] = {held.Data()->get(), words.subspan(at, length), given.subspan(givenBegin, givenEnd - givenBegin)};
    if (!agents[i].fits() || agents[i].made->families() < families) throw wrong("a template is not for its agent");
    givenBegin = givenEnd;
  }
  for (size_t i = 0; i < familyEnds.size(); ++i) {
    const size_t family = first + i;
    const size_t begin = family == 0 ? 0 : headEnds[family - 1];
    if (begin > headEnds[family] || headEnds[family] > heads.size())
      throw wrong("a family has a head that is not there");
    const FamilyHead head{heads.subspan(begin, headEnds[family] - begin), (flags & 1) != 0, (flags & 2) != 0};
    if (!page.append(head, family, agents)) return Napi::Number::New(info.Env(), -1);
    familyEnds[i] = static_cast<uint32_t>(page.end());
  }
  return Napi::Number::New(info.Env(), static_cast<double>(page.end()));
}

}  // namespace

void addPage(Napi::Object exports) {
  add(exports, "makeTemplate", makeTemplate);
  add(exports, "fillPage", fillPage);
}

}  // namespace nixl_otel::addon
