// Numbers as text, spelled as JavaScript spells them, infinities as Prometheus does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nixl_otel {

// Most bytes of a number: -0.0000012345678901234567.
constexpr size_t kMostNumberBytes = 25;

// Writes a number, at most kMostNumberBytes. Returns the end of its text.
char* writeNumber(char* out, uint64_t value);
char* writeNumber(char* out, double value);

}  // namespace nixl_otel
