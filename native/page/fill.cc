#include "page/fill.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "page/number_text.h"

namespace nixl_otel {
namespace {

constexpr size_t kMostVarintBytes = 10;
constexpr size_t kMostStepBytes = kMostNumberBytes;  // of a number in any form

// Tags of protobuf: fields of a native histogram, and of a span of its buckets.
constexpr uint8_t kSchema = 0x28, kZeroCount = 0x38, kPositiveSpan = 0x62, kPositiveDelta = 0x6a;
constexpr uint8_t kSpanOffset = 0x08, kSpanLength = 0x10;
constexpr uint64_t kScale = 4;    // as in tally/histogram.h
constexpr uint64_t kMostGap = 2;  // a further span takes more bytes than up to two empty buckets

// A number that may be negative, given as two's complement, as one that may not.
uint64_t zigZag(uint64_t value) { return value << 1 ^ (value >> 63 == 0 ? 0 : UINT64_MAX); }

// Returns a number as a whole one: those of counts, which a double holds exactly up to 2^53.
uint64_t whole(double value) { return value >= 0x1p64 ? UINT64_MAX : value > 0 ? static_cast<uint64_t>(value) : 0; }
uint64_t whole(uint64_t value) { return value; }

}  // namespace

bool PageRoom::append(const uint8_t* bytes, size_t number) {
  if (!hasRoom(number)) return false;
  if (number != 0) std::memcpy(room_.data() + end_, bytes, number);
  end_ += number;
  return true;
}

void PageRoom::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) room_[end_++] = static_cast<uint8_t>(value | 0x80);
  room_[end_++] = static_cast<uint8_t>(value);
}

// Leaves a byte for the length.
bool PageRoom::open() {
  if (!hasRoom(1)) return false;
  messages_[open_++] = ++end_;
  return true;
}

// Moves the message if its length has more than one byte. Most messages are short.
bool PageRoom::close() {
  const size_t begin = messages_[--open_];
  const size_t length = end_ - begin;
  size_t more = 0;
  for (uint64_t rest = length; rest >= 0x80; rest >>= 7) ++more;
  if (!hasRoom(more)) return false;
  if (more > 0) std::memmove(room_.data() + begin + more, room_.data() + begin, length);
  end_ = begin - 1;
  varint(length);
  end_ += length;
  return true;
}

template <typename Number>
void PageRoom::number(How how, Number value) {
  uint8_t* const out = room_.data() + end_;
  switch (how) {
    case How::kText: {
      char* const text = reinterpret_cast<char*>(out);
      end_ += static_cast<size_t>(writeNumber(text, value) - text);
      return;
    }
    case How::kEightBytes: {
      uint64_t bits = std::bit_cast<uint64_t>(static_cast<double>(value));
      for (size_t i = 0; i < sizeof bits; ++i, bits >>= 8) out[i] = static_cast<uint8_t>(bits);
      end_ += sizeof bits;
      return;
    }
    case How::kVarint:
      return varint(whole(value));
    case How::kNotAtAll:
      return;
  }
}

bool PageRoom::append(const Step& step, const Filling& agent) {
  if (!hasRoom(kMostStepBytes)) return false;
  const auto word = [&](size_t i) { return agent.words[step.place + i]; };
  const auto put = [&](auto value) {
    if (step.argument == 1)
      number(step.how, value);
    else
      number(step.how, static_cast<double>(value) / step.argument);
  };
  switch (step.what) {
    case What::kCount:
      put(word(0));
      return true;
    case What::kWide:
      if (word(1) == 0)
        put(word(0));
      else
        put(static_cast<double>(static_cast<unsigned __int128>(word(1)) << 64 | word(0)));
      return true;
    case What::kDouble:
      put(std::bit_cast<double>(word(0)));
      return true;
    case What::kGiven:
      number(step.how, agent.given[step.place]);
      return true;
    case What::kTotal: {
      uint64_t total = 0;
      for (int32_t i = 0; i < step.argument; ++i) total += word(static_cast<size_t>(i));
      number(step.how, total);
      return true;
    }
    case What::kFirst:
      running_ = 0;
      [[fallthrough]];
    case What::kRunning:
      running_ += word(0);
      number(step.how, running_);
      return true;
    case What::kExponential:
      return appendExponential(agent.words, step.place, step.argument);
    case What::kOpen:
      return open();
    case What::kClose:
      return close();
    case What::kNothing:
      return true;
  }
  return true;
}

// Spans of buckets, and the count of each bucket less that of the bucket before it. Without a zero threshold, which is
// 0: only values of 0 are in the zero bucket. Without counts it has a span without buckets: without any span, a
// histogram is not native.
bool PageRoom::appendExponential(std::span<const uint64_t> words, uint64_t place, int64_t shift) {
  const uint64_t* const fields = words.data() + place;
  // The words of an agent are those of the addon, but a template may name others than a histogram's.
  const uint64_t buckets = fields[ExponentialWords::kBuckets], distance = fields[ExponentialWords::kDistance];
  const bool isThere = distance <= words.size() - place && buckets <= words.size() - place - distance;
  const uint64_t* const counts = fields + (isThere ? distance : 0);
  const uint64_t number = isThere ? buckets : 0;
  if (!hasRoom(2 * (1 + kMostVarintBytes))) return false;
  room_[end_++] = kSchema;
  varint(zigZag(kScale));
  room_[end_++] = kZeroCount;
  varint(fields[ExponentialWords::kZeros]);
  const auto countAt = [&](uint64_t i) { return whole(std::bit_cast<double>(counts[i])); };
  // Prometheus numbers a bucket by its upper bound, OpenTelemetry by its lower.
  const uint64_t first = fields[ExponentialWords::kFirst] - static_cast<uint64_t>(shift) + 1;
  const auto span = [&](uint64_t offset, uint64_t length) {
    if (!hasRoom(2 + 2 * (1 + kMostVarintBytes))) return false;
    room_[end_++] = kPositiveSpan;
    open();
    room_[end_++] = kSpanOffset;
    varint(zigZag(offset));
    room_[end_++] = kSpanLength;
    varint(length);
    return close();
  };
  // The end of the buckets that belong to the span of this one, which has a count.
  const auto spanEnd = [&](uint64_t bucket) {
    uint64_t end = bucket + 1;
    for (uint64_t next = end; next < number && next - end <= kMostGap; ++next) {
      if (countAt(next) != 0) end = next + 1;
    }
    return end;
  };
  const auto nextCount = [&](uint64_t bucket) {
    while (bucket < number && countAt(bucket) == 0) ++bucket;
    return bucket;
  };
  uint64_t bucket = nextCount(0);
  if (bucket == number) return span(0, 0);
  const uint64_t firstCount = bucket;
  for (uint64_t end = 0 - first; bucket < number; bucket = nextCount(end)) {
    const uint64_t gap = bucket - end;
    end = spanEnd(bucket);
    if (!span(gap, end - bucket)) return false;
  }
  if (!hasRoom(1)) return false;
  room_[end_++] = kPositiveDelta;
  if (!open()) return false;
  uint64_t before = 0;
  for (bucket = firstCount; bucket < number; bucket = nextCount(bucket)) {
    for (const uint64_t end = spanEnd(bucket); bucket < end; ++bucket) {
      if (!hasRoom(kMostVarintBytes)) return false;
      varint(zigZag(countAt(bucket) - before));
      before = countAt(bucket);
    }
  }
  return close();
}

bool PageRoom::append(const Template::Part& part, const Filling& agent) {
  const uint8_t* bytes = part.bytes;
  for (size_t i = 0; i < part.steps.size(); ++i) {
    const Step& step = part.steps[i];
    if (step.what == What::kGiven && std::bit_cast<uint64_t>(agent.given[step.place]) == uint64_t{1} << 63) {
      bytes += step.bytes;
      for (uint16_t left = 0; left < step.skip; ++left) bytes += part.steps[++i].bytes;
      continue;
    }
    if (!append(bytes, step.bytes) || !append(step, agent)) return false;
    bytes += step.bytes;
  }
  return true;
}

bool PageRoom::append(const FamilyHead& head, size_t family, std::span<const Filling> agents) {
  const size_t begin = end_;
  open_ = 0;
  if (head.isMessage && !open()) return false;
  if (!append(head.bytes.data(), head.bytes.size())) return false;
  const size_t headEnd = end_;
  for (const Filling& agent : agents) {
    if (!append(agent.made->family(family), agent)) return false;
  }
  if (end_ == headEnd && !head.isKept) {
    end_ = begin;
    return true;
  }
  return !head.isMessage || close();
}

}  // namespace nixl_otel
