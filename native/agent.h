// One agent as the collector knows it: the ring at its path, what the ring's events added up to, and whether anybody
// still writes it. The collector's thread drains; any thread takes snapshots.

#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fair_mutex.h"
#include "ring_reader.h"
#include "tally.h"
#include "tap.h"
#include "writer_search.h"

namespace nixl_otel {

using Clock = std::chrono::steady_clock;

enum class Life : uint8_t { kUnknown = 0, kAlive = 1, kDead = 2 };

// The highest value of the last 15 to 30 seconds. A ring is emptied every few milliseconds, also right before metrics
// are read: what it held at that moment says nothing.
class RecentPeak {
 public:
  void note(uint64_t value, Clock::time_point now) {
    if (now - windowStart_ >= kWindow) {
      previous_ = now - windowStart_ < 2 * kWindow ? current_ : 0;
      current_ = 0;
      windowStart_ = now;
    }
    current_ = std::max(current_, value);
  }
  uint64_t value() const { return std::max(previous_, current_); }

 private:
  static constexpr auto kWindow = std::chrono::seconds(15);
  Clock::time_point windowStart_{};
  uint64_t previous_ = 0;
  uint64_t current_ = 0;
};

// Everything about an agent but its sums.
struct AgentStatus {
  int32_t wireVersion = 0;
  uint64_t capacity = 0;
  Life life = Life::kUnknown;
  pid_t pid = 0;
  double lastEventMs = 0;  // wall clock; 0: none yet
  bool exported = false;
  uint64_t fill = 0;      // events that the last drain found
  uint64_t peakFill = 0;  // the most that a drain found lately, see RecentPeak
  double fullMs = 0;      // at most so long was the ring full: from the drains before those that found it so
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
    bool moved = false;     // there were events
    bool more = false;      // its turn is over, but not its events
    bool crowded = false;   // more than half full when looked at
    bool settling = false;  // a new ring, to be looked at again after a pause
    bool restless = false;  // to be drained with patience
  };
  DrainReport drain(uint64_t budget, ChunkBuffer& buffer, Clock::time_point now, Patience patience);

  // Another file stands at the path now: its events go on where the old one's end. The old one is still drained, as
  // whoever writes it may go on.
  void replaceRing(std::unique_ptr<RingReader> reader);

  bool holds(const FileId& file) const;
  size_t rings() const { return readers_.size(); }
  FileId file() const;
  const RingReader& reader() const { return *readers_.back().reader; }

  // Files whose writer is not known, and what a search of all processes found.
  bool wantsWriter() const;
  void searched(const std::map<FileId, ProcessId>& found);
  // Looks after the process that was seen; `thoroughly`: whether it still maps a ring that stands still.
  void checkLife(Clock::time_point now, ProcessLooks& looks, bool thoroughly);

  // Whether it may be forgotten: dead and its last values told, or without a sign of life for longer than `idleTtl` (0:
  // never). `toldUntil`: when the slowest of all readers last read.
  bool expired(Clock::time_point now, std::chrono::milliseconds deadTtl, std::chrono::milliseconds idleTtl,
               Clock::time_point toldUntil) const;

  // Found empty, and nothing was ever seen behind it, nor did a search for its writer leave any doubt unsearched.
  bool neverUsed() const;
  // Closes the ring, leaving its header as it was found, and says what that header is now. The last thing to be called.
  HeaderFields release();

  // --- any thread ---

  std::shared_ptr<TallySlot> acquireTally(const std::shared_ptr<const TallyPlan>& plan);
  void releaseTally(const std::shared_ptr<TallySlot>& slot);
  // Held while the ring is drained. All below want it held.
  std::unique_lock<FairMutex> lockLater() const { return std::unique_lock(mutex_, std::defer_lock); }

  // kReady, or why the ring at the path cannot be drained at present.
  RingState trouble(std::string& reason) const;
  void addTap(TallySlot& slot, const std::shared_ptr<Tap>& tap);
  void removeTap(TallySlot& slot, const std::shared_ptr<Tap>& tap);
  // `visit(status, tally)`.
  template <typename Visit>
  void read(const TallySlot& slot, Visit&& visit) const {
    visit(status(), slot.tally);
  }

 private:
  struct Attached {
    std::unique_ptr<RingReader> reader;
    uint32_t incarnation = 0;
    ProcessId writer;
    bool writerSeen = false;
    bool gone = false;  // the writer was seen and is gone
    bool dry = false;   // the last drain left nothing, as far as anybody can tell
    Clock::time_point lastMoved{};
    Clock::time_point lastDrain{};
    uint64_t foundFull = 0;
  };

  AgentStatus status() const;
  void fold(Attached& attached, const RingReader::Chunk& chunk);
  void enterIncarnation(Attached& attached, uint32_t incarnation);
  bool maySpare(const Attached& replaced, Clock::time_point now) const;
  void noteFull(Attached& attached, Clock::time_point now);
  void noteTrouble(const DrainResult& result);
  bool stillWrites(const Attached& attached, Clock::time_point now, ProcessLooks& looks, bool thoroughly) const;
  Life life() const;

  const std::string path_;
  mutable FairMutex mutex_;
  std::vector<Attached> readers_;  // the last one is the path's; others were replaced and run dry
  std::vector<std::shared_ptr<TallySlot>> tallies_;
  std::vector<TappedEvent> tapped_;
  RecentPeak peakFill_;
  RingState trouble_ = RingState::kReady;
  Clock::duration fullTime_{0};
  DrainStats retired_;  // what readers that are closed by now had counted
  uint32_t replacements_ = 0;
  double lastEventMs_ = 0;
  Clock::time_point lastEvent_;
  Clock::time_point diedAt_{};
  bool moved_ = false;
  uint32_t searches_ = 0;  // complete ones since the ring was attached
};

}  // namespace nixl_otel
