// The state file of one agent: its tally and its record, committed with each chunk, so that the next consumer goes on
// where this one died. It guards against the death of the consumer, not of the machine: nothing is synchronised to a
// disk.
//
// The file is `.nixl-otel/<name of the ring>` in the directory of the ring. It has two halves (state_sections.h). A
// commit brings the half that is not valid up to date with plain stores, then one release store of the word W makes it
// valid. The tally stays on the heap: a live consumer only writes the file, and reads it once, at the start.
//
// Thread safety: none. The agent's lock guards its state file.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "posix/sigbus_guard.h"
#include "state/agent_record.h"
#include "state/state_folder.h"
#include "state/state_image.h"
#include "state/tally_record.h"
#include "tally/tally.h"

namespace nixl_otel {

class StateFile {
 public:
  // Opens the state file of the ring at `ringPath`, and locks it. If there is none, the first commit makes it: a ring
  // that is never used leaves nothing. nullptr and `reason` if it cannot be had: the folder or the file is not one that
  // only the effective user can change, or another process uses it. `ring`: the file that must have the path now; a
  // path may lead to another directory at any time. nullptr: any file, or none.
  static std::unique_ptr<StateFile> open(const std::string& ringPath, std::shared_ptr<const TallyPlan> plan,
                                         std::string& reason, const FileId* ring = nullptr);
  ~StateFile();

  // The record that the last consumer left. nullopt if there was none, or if it was set aside.
  const std::optional<AgentRecord>& recovered() const { return recovered_; }
  // Why there is no record although there was a file. Empty: no problem.
  const std::string& asideReason() const { return asideReason_; }
  // Replaces the tally by the recovered one, if there is a record. From now on unknown keys of the tally need room in
  // this file. Requires: no commit yet.
  void restore(Tally& tally);

  // Commits the record and the tally that was given to restore(): from its return on they are what the next consumer
  // finds. False and `reason` if the file cannot be made or cannot grow, or was truncated: then it is removed, and this
  // object must not be used any more. The tally then needs admitKeys(nullptr).
  bool commit(const AgentRecord& agent, const Tally& tally, std::string& reason);
  // Notes that the swap of the ring's last chunk is known to have hit the marked ring. One store.
  void rest(size_t ring);
  // False if the next consumer will not find the file: another process removed or replaced it, or its folder.
  bool present() const;
  // Removes the file: the agent has ended, and its last values were read.
  void remove();

 private:
  struct Half {
    StatePlace place{};
    bool written = false;  // by this process: the sections below know what is there
    AgentSections agent;
    TallySections tally;
  };

  StateFile(std::string directory, std::string name, std::shared_ptr<const TallyPlan> plan);
  void recover();
  bool admit(const EventTally& key);
  bool begin(std::string& reason);
  bool makeRoom(size_t bytes, std::string& reason);
  bool allocate(uint64_t end, std::string& reason);
  StatePlace placeBeside(const StatePlace& valid, size_t bytes) const;
  bool write(StateWord next, const AgentRecord& agent, const Tally& tally, bool anew);
  void storeWord(StateWord word);
  uint32_t idle() const { return 1 - word_.half(); }

  const std::string directory_;  // of the ring
  const std::string name_;       // of the ring
  FileId directoryId_;
  const std::shared_ptr<const TallyPlan> plan_;
  const size_t largestKnown_;  // bytes of a half without unknown keys
  std::shared_ptr<StateFolder> folder_;
  FileDescriptor fd_;
  uint64_t size_ = 0;
  HeaderMapping mapping_;
  StateWord word_;  // as in the file
  Half halves_[2];
  bool faulted_ = false;    // the file was truncated
  size_t keyBytes_ = 0;     // reserved in a half for the unknown keys of the tally
  size_t neededBytes_ = 0;  // of the last half that was rewritten, and of keys that were admitted since then
  std::optional<AgentRecord> recovered_;
  std::unique_ptr<Tally> tally_;
  std::string asideReason_;
};

struct StateSummary {
  double startTimeMs = 0;  // from which on the agent's sums count
  double lastEventMs = 0;
  bool writerEnded = false;  // the last writer that the consumer saw has ended
};

// Reads the state of the ring at this path without a lock, while a consumer may commit. nullopt if this user has none,
// or if it cannot be used. `tally`: one that has counted nothing, which gets the sums; of no use after nullopt.
std::optional<StateSummary> readState(const std::string& ringPath, Tally* tally = nullptr);

}  // namespace nixl_otel
