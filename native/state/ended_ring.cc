#include "state/ended_ring.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "state/state_file.h"
#include "state/state_folder.h"

namespace nixl_otel {
namespace {

constexpr size_t kUuidBytes = 36;

bool isUuid(std::string_view text) {
  if (text.size() != kUuidBytes) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool isDash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool isHex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (isDash ? c != '-' : !isHex) return false;
  }
  return true;
}

std::string withoutSpan(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

// Locks the state file. Returns why the ring has to stay for it, or "". An agent without one leaves `locked` invalid.
std::string lockState(const std::string& path, const std::string& name, const StateFolder& folder,
                      std::chrono::milliseconds ttl, FileDescriptor& locked) {
  std::string reason;
  locked = folder.openLocked(name, false, reason);
  if (!reason.empty() || !locked.valid()) return reason;
  const auto kept = readState(path);
  if (!kept) return "";  // of another boot, or damaged: no process continues it
  const double quietMs = wallClockMs() - std::max(kept->lastEventMs, kept->startTimeMs);
  if (quietMs >= static_cast<double>(ttl.count())) return "";
  return "its counts are kept for the next serve until it has had no event for " + withoutSpan(ttl);
}

}  // namespace

bool isFreshName(std::string_view name, const FreshNames& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](const std::string& beginning) {
    return name.substr(0, beginning.size()) == beginning && isUuid(name.substr(beginning.size()));
  });
}

std::string removeEndedRing(const std::string& path, const FileId& file, const HeaderValues& seen,
                            const RemovalRule& rule) {
  const size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (rule.names && !isFreshName(name, *rule.names)) {
    return "its name is not a new UUID of an engine: an agent may open it again";
  }
  const RingDirectory rings(slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1)));
  // Held until the end: its lock keeps other consumers out.
  const RingFile ring = RingFile::open(path, RingAccess::kDrain, true);
  if (ring.state != RingState::kReady) return ring.reason;
  const HeaderValues& now = ring.header;
  if (ring.id.file != file || fileAt(name, rings.fd()) != file || now != seen) return "it changes";
  if (!ring.header.empty()) {
    const uint64_t pending = (now.writePos - now.readPos) & (now.capacity - 1);
    return std::to_string(pending) + " events in it wait for a consumer";
  }
  if (hasWriterLock(ring.fd.get())) return "a process has it open for writing";
  std::string reason;
  FileDescriptor state;
  const auto folder = StateFolder::find(rings, reason);
  if (!reason.empty()) return reason;
  if (folder != nullptr) reason = lockState(path, name, *folder, rule.stateTtl, state);
  if (!reason.empty() || rule.dryRun) return reason;
  if (::unlinkat(rings.fd(), name.c_str(), 0) != 0) return std::string("cannot be removed: ") + std::strerror(errno);
  if (state.valid()) folder->remove(name, state.get());
  return "";
}

}  // namespace nixl_otel
