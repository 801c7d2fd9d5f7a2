// The flush interval that a process was started with, for its NIXL agents.

#pragma once

#include <sys/types.h>

#include <chrono>

namespace nixl_otel {

// Returns the process's NIXL_TELEMETRY_RUN_INTERVAL; 0 if it has none, or if its variables cannot be read. What it set
// for itself after its start is invisible.
std::chrono::milliseconds flushSettingOf(pid_t pid);

}  // namespace nixl_otel
