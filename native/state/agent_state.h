// State of one agent that outlives the process: what the last process left in the state file, and what this one keeps.
//
// Thread safety: none. The collector's thread makes it for a new agent; from then on the agent's lock guards it.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "ring/ring_reader.h"
#include "state/agent_record.h"
#include "state/state_file.h"
#include "tally/tally_slot.h"

namespace nixl_otel {

class AgentState {
 public:
  // Opens the state file if there is one, and restores the sums.
  //
  // Requires: this process holds the lock of `ring`, which it opened under this path.
  AgentState(const std::string& ringPath, const FileId& ring, const std::shared_ptr<const TallyPlan>& plan);
  ~AgentState();
  AgentState(const AgentState&) = delete;
  AgentState& operator=(const AgentState&) = delete;

  // Returns what is known of a ring of which this process holds the lock.
  Recalled recall(const RingFileId& ring) const;
  // The reason for which there is no state file; "" if there is none.
  const std::string& problem() const { return problem_; }
  // The reason for which the sums began at 0 although there was a state file; "" if there is none. They are kept since.
  const std::string& loss() const { return loss_; }
  // The tally whose sums are kept.
  const std::shared_ptr<TallySlot>& slot() const { return slot_; }
  // True if an earlier process left a record: of this very ring, or of a file that the ring replaced.
  bool hasRecord() const { return hasRecord_; }
  // Text that an earlier process left.
  const std::string& keptAttributes() const { return keptAttributes_; }

  // What the next commit keeps. At first, what the last process left.
  const AgentRecord& record() const { return record_; }
  template <typename T>
  void set(T AgentRecord::* field, const std::type_identity_t<T>& value) {
    if (record_.*field == value) return;
    record_.*field = value;
    isChanged_ = true;
  }
  const RingRecord* find(const RingFileId& ring) const;
  void put(const RingRecord& ring);
  void update(const RingFileId& ring, const DrainRecord& drain);
  void forget(const RingFileId& ring);

  // Commits the record and the sums. Makes the file if there is none.
  void commit();
  // Commits what changed since the last commit. Makes no file.
  void commitChanges();
  // Notes that the last swap in this ring hit the marked ring.
  void rest(const RingFileId& ring);
  // Makes the file again, beside `ring`, if another process removed it, or if the last commit had no room.
  void repair(const FileId& ring);
  // Removes the file: the agent has ended.
  void remove();
  // Commits what changed, and releases the file.
  void close();

 private:
  RingRecord* at(const RingFileId& ring);
  void giveUp(const std::string& problem);

  const std::string path_;
  const std::shared_ptr<const TallyPlan> plan_;
  const std::shared_ptr<TallySlot> slot_;
  std::unique_ptr<StateFile> file_;
  AgentRecord record_;
  bool isChanged_ = false;  // the file has another record, apart from `rested`
  bool isMade_ = false;     // the file exists
  bool isRefused_ = false;  // there was none to be had when the ring was opened: none is made
  bool hasRecord_ = false;
  std::string keptAttributes_;
  std::string problem_;
  std::string loss_;
};

}  // namespace nixl_otel
