#include "state/state_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "ring/space.h"

namespace nixl_otel {
namespace {

constexpr uint64_t kPage = 4096;

// Bytes of a half that holds so many: two of them and the head fill whole pages.
size_t halfBytes(size_t needed) {
  constexpr size_t kShare = StateHead::kBytes / 2;
  return std::min<size_t>((needed + kShare + kPage - 1) / kPage * kPage - kShare, kMostHalfBytes);
}

// Directory and name of a ring.
std::pair<std::string, std::string> split(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

constexpr uint64_t endOf(const StatePlace& place) { return uint64_t{place.offset} + place.bytes; }

size_t largestAgent() {
  AgentRecord agent;
  agent.rings.resize(StateWord::kMostRings);
  agent.attributes.resize(AgentRecord::kMostAttributeBytes);
  return AgentSections::bytes(agent);
}

std::vector<std::byte> readAll(int fd, uint64_t bytes) {
  std::vector<std::byte> all(bytes);
  all.resize(readAt(fd, all.data(), bytes, 0));
  return all;
}

}  // namespace

StateFile::StateFile(std::string directory, std::string name, std::shared_ptr<const TallyPlan> plan)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      plan_(std::move(plan)),
      largestKnown_(sizeof(HalfHead) + largestAgent() + TallySections::largest(*plan_)) {}

StateFile::~StateFile() = default;

std::unique_ptr<StateFile> StateFile::open(const std::string& ringPath, std::shared_ptr<const TallyPlan> plan,
                                           std::string& reason, const FileId* ring) {
  reason.clear();
  const auto [directory, name] = split(ringPath);
  std::unique_ptr<StateFile> state(new StateFile(directory, name, std::move(plan)));
  if (state->largestKnown_ > kMostHalfBytes) {
    reason = "the configured histograms may take " + std::to_string(2 * state->largestKnown_) +
             " bytes, more than a state file may have";
    return nullptr;
  }
  if (!currentBoot()) {
    reason = "/proc/sys/kernel/random/boot_id cannot be read";
    return nullptr;
  }
  const RingDirectory rings(directory);
  if (ring != nullptr && fileAt(name, rings.fd()) != *ring) {
    reason = kRingIsElsewhere;
    return nullptr;
  }
  state->directoryId_ = rings.id();
  state->folder_ = StateFolder::find(rings, reason);
  if (state->folder_ == nullptr) return reason.empty() ? std::move(state) : nullptr;
  state->fd_ = state->folder_->openLocked(state->name_, false, reason);
  if (!reason.empty()) return nullptr;
  if (state->fd_.valid()) state->recover();
  return state;
}

// Reads the file, or sets it aside.
void StateFile::recover() {
  struct stat info;
  if (::fstat(fd_.get(), &info) != 0) info.st_size = 0;
  size_ = static_cast<uint64_t>(info.st_size);
  StateImage image;
  StateFault fault = StateFault::kDamaged;
  if (size_ > kMostStateBytes) {
    asideReason_ = "it has " + std::to_string(size_) + " bytes, more than a state file may have";
  } else {
    const auto bytes = readAll(fd_.get(), size_);
    fault = readImage(bytes, *currentBoot(), plan_, kMostHalfBytes - largestKnown_, image, asideReason_);
  }
  if (fault == StateFault::kNone) {
    word_ = image.word;
    halves_[word_.half()].place = image.place;
    recovered_ = std::move(image.agent);
    tally_ = std::move(image.tally);
    return;
  }
  // One that no version can use is not kept, nor a large one.
  const bool keep = size_ <= kMostStateBytes && (fault == StateFault::kDamaged || fault == StateFault::kOtherLayout);
  if (keep) {
    folder_->setAside(name_, fd_.get());
  } else {
    folder_->remove(name_, fd_.get());
  }
  // Its consumer died before its first commit: nothing is missing.
  if (fault == StateFault::kEmpty) asideReason_.clear();
  fd_.reset();
  size_ = 0;
}

void StateFile::restore(Tally& tally) {
  if (tally_ != nullptr) tally = std::move(*std::exchange(tally_, nullptr));
  keyBytes_ = 0;
  for (const EventTally& event : tally.events()) {
    if (!event.known && !event.overflow) keyBytes_ += TallySections::largest(event);
  }
  tally.admitKeys([this](const EventTally& key) { return admit(key); });
}

bool StateFile::admit(const EventTally& key) {
  const size_t bytes = TallySections::largest(key);
  if (largestKnown_ + keyBytes_ + bytes > kMostHalfBytes) return false;
  std::string reason;
  // With room for the overflow key: the next key may need it.
  const size_t withOverflow = neededBytes_ + bytes + TallySections::largest(EventTally{});
  if (mapping_.base() != nullptr && !makeRoom(withOverflow, reason)) return false;
  keyBytes_ += bytes;
  neededBytes_ += bytes;
  return true;
}

// Makes the file, or maps the one that was recovered.
bool StateFile::begin(std::string& reason) {
  if (!fd_.valid()) {
    const RingDirectory rings(directory_);
    if (rings.id() != directoryId_) {
      reason = kRingIsElsewhere;
      return false;
    }
    // Before the folder and the head of the file take space, too.
    if (!RingSpace::instance().mayTake(rings.fd(), kPage, reason)) return false;
    folder_ = StateFolder::make(rings, reason);
    if (folder_ == nullptr) return false;
    fd_ = folder_->openLocked(name_, true, reason);
    if (!fd_.valid()) return false;
    StateHead head{.magic = StateHead::kMagic, .layout = StateHead::kLayout, .unused = 0, .boot = {}, .halves = {}};
    std::memcpy(head.boot, currentBoot()->data(), sizeof head.boot);
    // With the word: a file of a process that dies here is one without a commit, not one that was cut.
    std::byte bytes[StateHead::kBytes] = {};
    std::memcpy(bytes, &head, sizeof head);
    errno = sizeProblem(sizeof bytes);
    if (errno != 0 || ::pwrite(fd_.get(), bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
      reason = std::string("its state file cannot be written: ") + std::strerror(errno);
      return false;
    }
    word_ = {};
    halves_[0].place = {StateHead::kBytes, 0};
  }
  return allocate(std::max<uint64_t>(size_, kPage), reason);
}

// Returns the place of a half that leaves the valid one as it is.
StatePlace StateFile::placeBeside(const StatePlace& valid, size_t bytes) const {
  const bool before = valid.offset >= StateHead::kBytes + bytes;
  return {before ? StateHead::kBytes : static_cast<uint32_t>(endOf(valid)), static_cast<uint32_t>(bytes)};
}

// Allocates and maps the space for two halves with so many bytes.
bool StateFile::makeRoom(size_t needed, std::string& reason) {
  const StatePlace& valid = halves_[1 - idle()].place;
  StatePlace next = halves_[idle()].place;
  if (next.bytes < needed) next = placeBeside(valid, halfBytes(needed));
  const StatePlace afterNext = valid.bytes < needed ? placeBeside(next, halfBytes(needed)) : valid;
  return allocate(std::max(endOf(next), endOf(afterNext)), reason);
}

// The space is allocated before it is mapped: a store into a page without space would be a SIGBUS.
bool StateFile::allocate(uint64_t end, std::string& reason) {
  end = std::max((end + kPage - 1) / kPage * kPage, size_);
  if (end == size_ && mapping_.base() != nullptr) return true;
  // A file that was recovered may have holes.
  struct stat info;
  if (::fstat(fd_.get(), &info) != 0) info.st_blocks = 0;
  const uint64_t lack = end - std::min(end, static_cast<uint64_t>(info.st_blocks) * kBlockBytes);
  if (!RingSpace::instance().mayTake(fd_.get(), lack, reason) || !folder_->take(end - size_, reason)) return false;
  int problem = sizeProblem(end);
  if (problem == 0) problem = ::posix_fallocate(fd_.get(), 0, static_cast<off_t>(end));
  if (problem == 0) problem = mapping_.map(fd_.get(), end, true);
  if (problem == 0) {
    size_ = end;
    return true;
  }
  reason = "its state file cannot have " + std::to_string(end) + " bytes: " + std::strerror(problem);
  return false;
}

bool StateFile::commit(const AgentRecord& agent, const Tally& tally, std::string& reason) {
  bool good = mapping_.base() != nullptr || begin(reason);
  if (good) {
    uint64_t rested = 0;
    for (size_t i = 0; i < agent.rings.size(); ++i) rested |= uint64_t{agent.rings[i].drain.rested} << i;
    const auto next = StateWord::of(word_.sequence() + 1, idle(), rested);
    if (!write(next, agent, tally, false)) {
      neededBytes_ = sizeof(HalfHead) + AgentSections::bytes(agent) + TallySections::bytes(tally);
      good = makeRoom(neededBytes_, reason);
      StatePlace& place = halves_[next.half()].place;
      if (good && place.bytes < neededBytes_) {
        place = placeBeside(halves_[1 - next.half()].place, halfBytes(neededBytes_));
      }
      good = good && write(next, agent, tally, true);
    }
  }
  if (good && faulted_) reason = "its state file was truncated";
  if (good && !faulted_) return true;
  remove();
  return false;
}

// Fills the idle half, and makes it the valid one. False if it has to be written anew.
bool StateFile::write(StateWord next, const AgentRecord& agent, const Tally& tally, bool anew) {
  Half& half = halves_[next.half()];
  const MappingClaim claim(mapping_);
  std::byte* const base = mapping_.base() + half.place.offset;
  if (anew) {
    // Readers look at this place only once W names the half.
    storeField(mapping_.base(), offsetof(StateHead, halves) + next.half() * sizeof(StatePlace), half.place);
    SectionWriter to(base, sizeof(HalfHead));
    half.agent.rewrite(to, agent);
    half.tally.rewrite(to, tally);
    fixedAt<HalfHead>(base) = {next.sequence(), to.bytes(), 0};
    half.written = true;
  } else {
    if (!half.written || !half.agent.update(base, agent) || !half.tally.update(base, tally)) return false;
    storeField(base, offsetof(HalfHead, sequence), next.sequence());
  }
  storeWord(next);
  faulted_ |= claim.faulted();
  return true;
}

// release: a process that reads this value of W finds the half whole. After the death of this process the kernel has
// all stores that this thread made before.
void StateFile::storeWord(StateWord word) {
  word_ = word;
  auto& place = *reinterpret_cast<uint64_t*>(mapping_.base() + StateHead::kWordOffset);
  std::atomic_ref<uint64_t>(place).store(word.value, std::memory_order_release);
}

void StateFile::rest(size_t ring) {
  if (mapping_.base() == nullptr) return;
  const MappingClaim claim(mapping_);
  storeWord({word_.value | uint64_t{1} << ring});
  faulted_ |= claim.faulted();
}

bool StateFile::present() const {
  return !fd_.valid() || isAt(directory_ + "/" + kStateFolderName + "/" + name_, AT_FDCWD, fd_.get());
}

void StateFile::remove() {
  mapping_.unmap();
  if (!fd_.valid()) return;
  folder_->remove(name_, fd_.get());
  fd_.reset();
}

std::optional<StateSummary> readState(const std::string& ringPath, Tally* tally) {
  const auto boot = currentBoot();
  const auto [directory, name] = split(ringPath);
  std::string reason;
  const auto folder = StateFolder::find(RingDirectory(directory), reason);
  if (!boot || folder == nullptr) return std::nullopt;
  const FileDescriptor fd = folder->openRead(name);
  if (!fd.valid()) return std::nullopt;
  // A consumer may commit twice while this thread reads, and then writes the half that is read.
  for (int attempt = 0; attempt < 100; ++attempt) {
    struct stat info;
    if (::fstat(fd.get(), &info) != 0 || static_cast<uint64_t>(info.st_size) > kMostStateBytes) break;
    const auto bytes = readAll(fd.get(), static_cast<uint64_t>(info.st_size));
    StateHalf half;
    const StateFault fault = findHalf(bytes, *boot, half, reason);
    StateWord now;
    if (::pread(fd.get(), &now, sizeof now, StateHead::kWordOffset) != static_cast<ssize_t>(sizeof now)) break;
    if (now.value != half.word.value) continue;
    const auto fields = tallyFields(half.sections);
    AgentRecord agent;
    if (fault != StateFault::kNone || !fields || !AgentSections::restore(half.sections, agent, reason)) break;
    if (tally != nullptr && !TallyRestorer(*tally).restore(half.sections, reason)) break;
    const bool isHere = agent.writer.pid != 0 && agent.pidNamespace == ownPidNamespace();
    return StateSummary{fields->startTimeMs, agent.lastEventMs, isHere && hasEnded(agent.writer)};
  }
  return std::nullopt;
}

}  // namespace nixl_otel
