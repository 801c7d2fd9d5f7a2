// Lines on stderr.

#pragma once

#include <cstdio>
#include <string>

namespace nixl_otel::transfer_source {

// The name by which the program was called, without folders: `nixl-otel simulate` passes `nixl-otel`.
inline std::string programName = "transfer-source";

inline void printLine(const std::string& text) { std::fprintf(stderr, "%s: %s\n", programName.c_str(), text.c_str()); }

}  // namespace nixl_otel::transfer_source
