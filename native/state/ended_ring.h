// Removal of the ring of an agent that has ended, with its state file. It is the only place that removes a file that
// another program made, and it does so on the operator's word alone: `prune`, or serve's --remove-ended-after.
//
// An agent opens its ring by its name, without a lock. Between the last look and unlink() it could open the file, and
// then write events that no consumer ever finds. Therefore only names that no agent opens again are removed.
//
// A death at any instruction loses nothing. The ring is removed first: it is drained, so that no event goes with it.
// Its state file, if still there, is then one of a ring that is gone: serve removes it (removeOrphanedState), as after
// an operator's rm. In the other order the next serve would begin the ring's sums at 0.
//
// Thread safety: any thread.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posix/posix.h"
#include "ring/ring_file.h"

namespace nixl_otel {

// Names that an engine makes anew at each start: one of these texts and a UUID.
using FreshNames = std::vector<std::string>;
bool isFreshName(std::string_view name, const FreshNames& beginnings);

struct RemovalRule {
  std::optional<FreshNames> names;  // that may be removed; nullopt: any
  // Time without an event after which the kept sums of an agent count as exported.
  std::chrono::milliseconds stateTtl{0};
  bool dryRun = false;
};

// Removes the ring at the path, if it is this file with this header, empty and without a lock, and its state file.
// Returns why it did not, or "": it did, or with `dryRun` would.
//
// Requires: the caller saw that no process writes the ring, after it had read `seen`.
std::string removeEndedRing(const std::string& path, const FileId& file, const HeaderValues& seen,
                            const RemovalRule& rule);

}  // namespace nixl_otel
