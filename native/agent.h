// One agent as the collector knows it: the ring at its path, what the ring's events added up to, and whether anybody
// still writes it. The collector's thread drains; any thread takes snapshots.

#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ring_reader.h"
#include "tally.h"
#include "tap.h"
#include "writer_search.h"

namespace nixl_otel {

using Clock = std::chrono::steady_clock;

enum class Life : uint8_t { kUnknown = 0, kAlive = 1, kDead = 2 };

// Everything about an agent but its sums.
struct AgentStatus {
  int32_t wireVersion = 0;
  uint64_t capacity = 0;
  Life life = Life::kUnknown;
  pid_t pid = 0;
  double lastEventMs = 0;  // wall clock; 0: none yet
  bool exported = false;
  uint64_t fill = 0;  // events that the last drain found
  DrainStats drains;
};

// A tally and the taps that are fed together with it.
struct TallySlot {
  Tally tally;
  std::vector<std::shared_ptr<Tap>> taps;
  uint32_t users = 0;  // sources that asked for this tally
};

class Agent {
 public:
  Agent(std::string path, std::unique_ptr<RingReader> reader);

  const std::string& path() const { return path_; }

  // --- the collector's thread only ---

  struct DrainReport {
    bool more = false;     // the budget was used up
    bool crowded = false;  // more than half full when looked at
    bool waiting = false;  // the ring's header does not hold
  };
  DrainReport drain(uint64_t budget, ChunkBuffer& buffer);

  // Another file stands at the path now: its events go on where the old one's end. The old one is still drained, as
  // whoever writes it may go on.
  void replaceRing(std::unique_ptr<RingReader> reader);

  bool holds(const FileId& file) const;
  FileId file() const;
  const RingReader& reader() const { return *readers_.back().reader; }

  // Files whose writer is not known, and what a search of all processes found.
  bool wantsWriter() const;
  void searched(const std::map<FileId, ProcessId>& found);
  // Looks after the process that was seen: cheap, but for mappings being read again while the ring stands still.
  void checkLife(Clock::time_point now);

  // Whether it may be forgotten: dead and told, or without a sign of life for longer than `idleTtl` (0: never).
  bool expired(Clock::time_point now, std::chrono::milliseconds deadTtl, std::chrono::milliseconds idleTtl) const;

  // Found empty, and nothing was ever seen behind it, nor did a search for its writer leave any doubt unsearched.
  bool neverUsed() const;
  // Closes the ring, leaving its header as it was found, and says what that header is now. The last thing to be called.
  HeaderFields release();

  // --- any thread ---

  std::shared_ptr<TallySlot> acquireTally(const std::shared_ptr<const TallyOptions>& options);
  void releaseTally(const std::shared_ptr<TallySlot>& slot);
  void addTap(TallySlot& slot, const std::shared_ptr<Tap>& tap);
  void removeTap(TallySlot& slot, const std::shared_ptr<Tap>& tap);

  // Runs with the agent's lock held: `visit(status, tally)`. Also notes that the values have been told to someone.
  template <typename Visit>
  void read(const TallySlot& slot, Visit&& visit) {
    const std::lock_guard lock(mutex_);
    if (diedAt_ != Clock::time_point{}) toldSinceDeath_ = true;
    visit(status(), slot.tally);
  }

 private:
  struct Attached {
    std::unique_ptr<RingReader> reader;
    uint32_t incarnation = 0;
    ProcessId writer;
    bool writerSeen = false;
    bool gone = false;  // the writer was seen and is gone
    Clock::time_point lastMoved{};
    Clock::time_point lastMapsLook{};
  };

  AgentStatus status() const;
  void fold(Attached& attached, const RingReader::Chunk& chunk);
  void enterIncarnation(Attached& attached, uint32_t incarnation);
  bool stillWrites(Attached& attached, Clock::time_point now);
  Life life() const;

  const std::string path_;
  mutable std::mutex mutex_;
  std::vector<Attached> readers_;  // the last one is the path's; others were replaced and run dry
  std::vector<std::shared_ptr<TallySlot>> tallies_;
  std::vector<TappedEvent> tapped_;
  DrainStats retired_;  // what readers that are closed by now had counted
  uint32_t replacements_ = 0;
  double lastEventMs_ = 0;
  Clock::time_point lastEvent_;
  Clock::time_point diedAt_{};
  bool moved_ = false;
  bool toldSinceDeath_ = false;
  uint32_t searches_ = 0;  // complete ones since the ring was attached
};

}  // namespace nixl_otel
