#include "page/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

namespace nixl_otel {
namespace {

constexpr double kExact = 0x1p53;  // doubles represent all whole numbers up to here exactly

char* append(char* out, std::string_view text) { return std::copy(text.begin(), text.end(), out); }

// Writes the shortest digits that are this value, as ECMAScript's Number::toString does: a point after at most 21
// digits, or up to six zeros behind it, otherwise an exponent.
char* writeShortest(char* out, double value) {
  char scientific[kMostNumberBytes + 8];  // d.ddde-ddd
  const char* const end = std::to_chars(scientific, std::end(scientific), value, std::chars_format::scientific).ptr;
  const char* const e = std::find(static_cast<const char*>(scientific), end, 'e');
  int exponent = 0;
  std::from_chars(e + (e[1] == '+' ? 2 : 1), end, exponent);
  char digits[20];
  size_t number = 0;
  for (const char* c = scientific; c != e; ++c) {
    if (*c != '.') digits[number++] = *c;
  }
  const std::string_view all(digits, number);
  const int point = exponent + 1;  // digits before the point
  const int count = static_cast<int>(number);
  if (point > 21 || point < -5) {
    out = append(out, all.substr(0, 1));
    if (count > 1) out = append(append(out, "."), all.substr(1));
    out = append(out, exponent < 0 ? "e-" : "e+");
    return std::to_chars(out, out + 4, std::abs(exponent)).ptr;
  }
  if (point <= 0) {
    out = append(out, "0.");
    return append(std::fill_n(out, -point, '0'), all);
  }
  if (point >= count) return std::fill_n(append(out, all), point - count, '0');
  out = append(out, all.substr(0, static_cast<size_t>(point)));
  return append(append(out, "."), all.substr(static_cast<size_t>(point)));
}

}  // namespace

char* writeNumber(char* out, uint64_t value) {
  if (value <= static_cast<uint64_t>(kExact)) return std::to_chars(out, out + kMostNumberBytes, value).ptr;
  return writeShortest(out, static_cast<double>(value));
}

char* writeNumber(char* out, double value) {
  if (std::isnan(value)) return append(out, "NaN");
  if (std::isinf(value)) return append(out, value < 0 ? "-Inf" : "+Inf");
  if (value < 0) {
    *out++ = '-';
    value = -value;
  }
  if (value <= kExact && std::floor(value) == value) return writeNumber(out, static_cast<uint64_t>(value));
  return writeShortest(out, value);
}

}  // namespace nixl_otel
