#include "process/flush_setting.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "posix/posix.h"

namespace nixl_otel {
namespace {

constexpr std::string_view kVariable = "NIXL_TELEMETRY_RUN_INTERVAL=";
// Longest environment that is read: what is behind it does not count.
constexpr size_t kMostBytes = 1 << 20;
constexpr int64_t kLongestMs = 99'999'999;

std::string environmentOf(pid_t pid) {
  const FileDescriptor fd(::open(("/proc/" + std::to_string(pid) + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[4096];
  ssize_t got = 0;
  while (fd.valid() && text.size() < kMostBytes && (got = ::read(fd.get(), part, sizeof part)) > 0) {
    text.append(part, static_cast<size_t>(got));
  }
  return text;
}

}  // namespace

std::chrono::milliseconds flushSettingOf(pid_t pid) {
  const std::string environment = environmentOf(pid);
  for (std::string_view rest = environment; !rest.empty();) {
    const std::string_view variable = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), variable.size() + 1));
    if (!variable.starts_with(kVariable)) continue;
    const std::string_view value = variable.substr(kVariable.size());
    int64_t ms = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
    const bool isInterval = error == std::errc() && end == value.data() + value.size() && ms > 0 && ms <= kLongestMs;
    return std::chrono::milliseconds(isInterval ? ms : 0);
  }
  return std::chrono::milliseconds(0);
}

}  // namespace nixl_otel
