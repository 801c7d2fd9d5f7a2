// The state file of one agent: its tally and its record, committed with each chunk, so that the next consumer goes on
// where this one died.
//
// Thread safety: none. The agent's lock guards its state file.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent_record.h"
#include "tally.h"

namespace nixl_otel {

class StateFile {
 public:
  // Opens or creates the state file of the ring at `ringPath`, and locks it. nullptr and `reason`, where it cannot be
  // had: the folder or the file is not ours, is no plain file, has another user, or the directory has no room.
  static std::unique_ptr<StateFile> open(const std::string& ringPath, const TallyPlan& plan, std::string& reason);
  ~StateFile();

  // Record that the last consumer left; nullopt in a new file, and where what was there was set aside: then
  // `asideReason` says why.
  const std::optional<AgentRecord>& recovered() const;
  const std::string& asideReason() const;
  // Restores the recovered tally. Requires: recovered(), and no commit yet.
  void restore(Tally& tally) const;

  // Commits the record and the tally: from its return on they are what the next consumer finds. False where the file
  // has to grow and cannot: then the file is removed, and commits end (`reason`).
  bool commit(const AgentRecord& agent, const Tally& tally, std::string& reason);
  // Notes that the swap of the ring's last chunk is known to have hit the marked ring. One store.
  void rest(size_t ring);
  // Removes the file: the agent has ended, and its last values were read.
  void remove();
};

}  // namespace nixl_otel
