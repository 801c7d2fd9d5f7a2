#include "ring/ring_reader.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace nixl_otel {
namespace {

// A pause of the protocol: much longer than the eight stores of a rebuild (assumption A), and short beside a drain.
constexpr long kRebuildPauseNs = 500'000;

// Number of bytes that the kernel copies in about the time of one system call.
constexpr uint64_t kBytesPerCall = 16'384;

int64_t monotonicNs() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// A serial of the lower half: that of a consumer without state.
uint16_t randomSerial() {
  uint16_t serial = 0;
  if (::getrandom(&serial, sizeof serial, GRND_NONBLOCK) != sizeof serial) serial = static_cast<uint16_t>(::getpid());
  return serial & (kStateSerials - 1);
}

HeaderPeek toPeek(const HeaderFields& header) {
  HeaderPeek peek;
  peek.whole = header.state == RingState::kReady;
  peek.readPosPast = header.readPosPast;
  peek.version = header.version;
  peek.mark = header.expectedVersion;
  peek.writePos = header.writePos;
  peek.readPos = header.readPos;
  return peek;
}

}  // namespace

std::unique_ptr<RingReader> RingReader::open(const std::string& path, bool force, RingState& state, std::string& reason,
                                             const Owners& owners, const Recall& recall) {
  RingFile file = RingFile::open(path, RingAccess::kDrain, force, owners);
  state = file.state;
  reason = file.reason;
  if (!file.fd.valid()) return nullptr;
  const Recalled recalled = recall ? recall(file.id) : Recalled{};
  const std::optional<DrainRecord>& record = recalled.record;
  if (!recalled.notYet.empty()) {
    state = RingState::kBusy;
    reason = recalled.notYet;
    return nullptr;
  }
  if (state != RingState::kReady && !(record && DrainProtocol<RingReader>::leftSwapped(*record, toPeek(file.header)))) {
    return nullptr;
  }
  state = RingState::kReady;
  reason.clear();
  std::unique_ptr<RingReader> reader(new RingReader(std::move(file)));
  const MappingClaim claim(reader->file_.mapping);
  if (!reader->attach(recalled.keepsState, record) || claim.faulted()) {
    state = RingState::kInitializing;
    reason = "its header changed while it was opened";
    return nullptr;
  }
  return reader;
}

RingReader::RingReader(RingFile file)
    : file_(std::move(file)),
      layout_(file_.header.layout),
      capacity_(file_.header.capacity),
      firstReadPos_(file_.header.readPos) {}

RingReader::~RingReader() { leave(); }

void RingReader::leave() {
  if (!protocol_.leavesMark()) detach();
}

void RingReader::detach() {
  if (file_.mapping.base() == nullptr) return;
  const MappingClaim claim(file_.mapping);
  protocol_.detach(*this);
}

bool RingReader::attach(bool keepsState, const std::optional<DrainRecord>& record) {
  const HeaderFields& header = file_.header;
  if (record) {
    protocol_.resume(*record, capacity_, record->version == header.version);
    return true;
  }
  // A mark of a consumer whose record is lost is not repeated either.
  const int32_t mark = header.expectedVersion;
  const uint16_t serial = !keepsState         ? randomSerial()
                          : isStateMark(mark) ? serialAfter(mark)
                                              : randomSerial() | kStateSerials;
  return protocol_.attach(*this, toPeek(header), capacity_, serial);
}

// Maps the header again after a fault. False if the file is still too short: an access would fault in every tick. While
// the header is mapped, no fstat is needed, because a fault shows a truncation.
bool RingReader::ensureMapped() {
  if (file_.mapping.base() != nullptr) return true;
  struct stat info;
  if (::fstat(fd(), &info) != 0) return false;
  if (info.st_size < static_cast<off_t>(layout_->header.size)) {
    waitingFor_ = info.st_size == 0 ? RingState::kInitializing : RingState::kCorrupt;
    reason_ = "the file was truncated to " + std::to_string(info.st_size) + " bytes";
    return false;
  }
  return file_.mapping.map(fd(), layout_->header.size, true) == 0;
}

std::optional<HeaderLook> RingReader::restingLook() const {
  if (file_.mapping.base() == nullptr || !protocol_.isAtRest()) return std::nullopt;
  const DrainRecord& place = protocol_.record();
  return HeaderLook(file_.mapping.base(), layout_->header,
                    {place.version, place.mark, place.after, place.after, capacity_});
}

bool RingReader::unlinked() const {
  struct stat info;
  return ::fstat(fd(), &info) == 0 && info.st_nlink == 0;
}

// Attaches to a ring of another geometry in the same file: the agent restarted with other settings or in another
// release.
bool RingReader::reattach() {
  const HeaderFields header = readHeader(fd());
  if (header.state != RingState::kReady) return false;
  if (file_.mapping.map(fd(), header.layout->header.size, true) != 0) return false;
  layout_ = header.layout;
  capacity_ = header.capacity;
  protocol_.changeGeometry(capacity_);
  return true;
}

namespace {

// Tells a journal of the chunks of a protocol, and counts their events.
struct Chunks {
  DrainJournal& journal;
  const RingLayout* const& layout;
  uint64_t events = 0;

  void commit(const std::byte* slots, uint32_t count, bool gapBefore, bool gapAfter, const DrainRecord& record) {
    events += count;
    journal.commit({*layout, slots, count, gapBefore, gapAfter, record.stats.restarts}, record);
  }
  void commit(const DrainRecord& record) { journal.commit(record); }
  void rest(const DrainRecord& record) { journal.rest(record); }
};

class SinkJournal final : public DrainJournal {
 public:
  explicit SinkJournal(const RingReader::Sink& sink) : sink_(sink) {}
  void commit(const Chunk& chunk, const DrainRecord&) override { sink_(chunk); }
  void commit(const DrainRecord&) override {}
  void rest(const DrainRecord&) override {}

 private:
  const RingReader::Sink& sink_;
};

}  // namespace

DrainResult RingReader::drain(uint64_t budget, ChunkBuffer& buffer, const Sink& sink, PausePolicy pauses) {
  SinkJournal journal(sink);
  return drain(budget, buffer, journal, pauses);
}

DrainResult RingReader::drain(uint64_t budget, ChunkBuffer& buffer, DrainJournal& journal, PausePolicy pauses) {
  pauses_ = pauses;
  if (pauses == PausePolicy::kAlways) guardMappings();  // with another policy the collector has called it in this tick
  DrainResult result;
  Chunks chunks{journal, layout_};
  for (int geometries = 0; geometries < 2; ++geometries) {
    if (!ensureMapped()) {
      result.outcome = DrainOutcome::kWaiting;
      if (!reattach()) break;  // a ring of another wire version may be smaller than the header of the old one
      continue;
    }
    bool faulted = false;
    {
      const MappingClaim claim(file_.mapping);
      result.outcome =
          protocol_.drain(*this, budget - chunks.events, buffer.data(), chunks, pauses != PausePolicy::kNever);
      faulted = claim.faulted();
    }
    if (faulted) {
      file_.mapping.unmap();
      result.outcome = DrainOutcome::kWaiting;
      continue;
    }
    if (result.outcome != DrainOutcome::kGeometryChanged) break;
    result.outcome = DrainOutcome::kWaiting;
    if (!reattach()) break;
  }
  result.events = chunks.events;
  result.state = result.outcome == DrainOutcome::kWaiting ? waitingFor_ : RingState::kReady;
  return result;
}

HeaderPeek RingReader::inspect() {
  const HeaderFields header = readHeader(fd());
  waitingFor_ = header.state == RingState::kReady ? RingState::kInitializing : header.state;
  reason_ = header.state == RingState::kReady ? "its header is being rebuilt" : header.reason;
  HeaderPeek peek = toPeek(header);
  if (peek.whole || peek.readPosPast) {
    peek.geometryChanged = header.layout != layout_ || header.capacity != capacity_;
    peek.sameHeader = header.layout->header.size == layout_->header.size;
  }
  pauseFromNs_ = monotonicNs();
  return peek;
}

template <typename T>
std::atomic_ref<T> RingReader::field(uint32_t offset) const {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(file_.mapping.base() + offset));
}

// seq_cst on these two loads and on the swaps: after a swap of read_pos, the loads must not return older values.
int32_t RingReader::loadVersion() { return field<int32_t>(layout_->header.version).load(); }

int32_t RingReader::loadMark() { return field<int32_t>(layout_->header.expectedVersion).load(); }

// acquire pairs with the producer's release store of write_pos: the slots before write_pos are whole.
uint64_t RingReader::loadWritePos() {
  return field<uint64_t>(layout_->header.writePos).load(std::memory_order_acquire);
}

// acquire pairs with the release store of a foreign consumer. This thread sees its own stores without any order.
uint64_t RingReader::loadReadPos() { return field<uint64_t>(layout_->header.readPos).load(std::memory_order_acquire); }

bool RingReader::swapMark(int32_t from, int32_t to) {
  const bool swapped = field<int32_t>(layout_->header.expectedVersion).compare_exchange_strong(from, to);
  pauseFromNs_ = monotonicNs();
  return swapped;
}

// The release half pairs with the producer's acquire load of read_pos: this thread has read the slots before it.
bool RingReader::swapReadPos(uint64_t from, uint64_t to) {
  return field<uint64_t>(layout_->header.readPos).compare_exchange_strong(from, to);
}

void RingReader::noteTime() { notedNs_ = monotonicNs(); }

bool RingReader::pausedSinceNote() const { return monotonicNs() - notedNs_ >= kRebuildPauseNs; }

uint32_t RingReader::readSlots(uint64_t position, uint32_t count, std::byte* out) {
  const uint64_t toLapEnd = capacity_ - position;
  if (count <= toLapEnd) return readStraight(position, count, out);
  if (readLap(position, count, out)) return count;
  const auto before = static_cast<uint32_t>(toLapEnd);
  const uint32_t done = readStraight(position, before, out);
  return done < before ? done : done + readStraight(0, count - before, out + size_t{before} * layout_->slot.size);
}

// Reads slots over the lap's end with one system call instead of two: it reads the whole ring. False if that would read
// too many slots that were not asked for. Those follow the others in `out`.
bool RingReader::readLap(uint64_t position, uint32_t count, std::byte* out) const {
  const size_t slot = layout_->slot.size;
  const uint64_t leftOver = capacity_ - count;
  if (capacity_ > DrainProtocol<int>::kChunkSlots || leftOver * slot > kBytesPerCall) return false;
  const size_t beforeEnd = (capacity_ - position) * slot;
  const size_t taken = count * slot;
  const iovec pieces[] = {{out + beforeEnd, taken - beforeEnd}, {out + taken, leftOver * slot}, {out, beforeEnd}};
  const ssize_t got = ::preadv(fd(), pieces, 3, static_cast<off_t>(layout_->slotOffset(0)));
  return got == static_cast<ssize_t>(capacity_ * slot);
}

// Reads slots with pread instead of a mapping: a truncated file then causes a short read and no SIGBUS.
uint32_t RingReader::readStraight(uint64_t position, uint32_t count, std::byte* out) const {
  const size_t slot = layout_->slot.size;
  return static_cast<uint32_t>(readAt(fd(), out, count * slot, layout_->slotOffset(position)) / slot);
}

bool RingReader::pauseForRebuild(bool mayReturn) {
  if (mayReturn && pauses_ != PausePolicy::kAlways) return monotonicNs() - pauseFromNs_ >= kRebuildPauseNs;
  timespec left{0, kRebuildPauseNs};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
  return true;
}

}  // namespace nixl_otel
