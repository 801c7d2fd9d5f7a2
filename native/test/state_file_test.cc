// A state file gives the next consumer what the last one committed, whatever happened to the file or to its consumer.
#include "state/state_file.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <utility>

#include "collector/discovery.h"
#include "random_tally.h"
#include "state/agent_state.h"
#include "temporary_directory.h"
#include "wire_versions.h"

namespace {
std::function<void()> beforeLock;  // called once
}

// Replaces a function of the C library in the whole program.
extern "C" __attribute__((visibility("default"))) int flock(int fd, int operation) noexcept {
  if (beforeLock) std::exchange(beforeLock, nullptr)();
  return static_cast<int>(::syscall(SYS_flock, fd, operation));
}

using namespace nixl_otel;

namespace {

AgentRecord someAgent(uint64_t n) {
  AgentRecord agent;
  RingRecord ring;
  ring.id = {{7, 8 + n}, {9, 10}};
  ring.capacity = 4096;
  ring.slotBytes = 16;
  ring.drain.mark = makeMark(0x8001);
  ring.drain.version = 4;
  ring.drain.before = n % 4096;
  ring.drain.after = (n + 5) % 4096;
  ring.drain.fromZero = n % 2 == 0;
  ring.drain.rested = n % 3 == 0;
  ring.drain.gaps = 2;
  ring.drain.gapAt = {3, 4095};
  ring.drain.stats = {n, 2, 3, 4, 5, true};
  agent.rings = {ring};
  agent.retired = {1, 2, 3, 4, 5, false};
  agent.replacements = 6;
  agent.lastEventMs = 1.5e12 + static_cast<double>(n);
  agent.fullMs = 12.5;
  agent.writer = {1234, 99};
  agent.pidNamespace = 4026531836;
  agent.attributes = "{\"pod\":\"a\"}";
  return agent;
}

bool sameStats(const DrainStats& a, const DrainStats& b) {
  return CHECK_EQ(a.drained, b.drained) && CHECK_EQ(a.restarts, b.restarts) &&
         CHECK_EQ(a.foreignMoves, b.foreignMoves) && CHECK_EQ(a.resyncs, b.resyncs) &&
         CHECK_EQ(a.foundFull, b.foundFull) && CHECK_EQ(a.suspect, b.suspect);
}

bool sameAgent(const AgentRecord& a, const AgentRecord& b) {
  if (!CHECK_EQ(a.rings.size(), b.rings.size())) return false;
  for (size_t i = 0; i < a.rings.size(); ++i) {
    const RingRecord& x = a.rings[i];
    const RingRecord& y = b.rings[i];
    const bool same = CHECK(x.id.file == y.id.file) && CHECK_EQ(x.id.born.tv_sec, y.id.born.tv_sec) &&
                      CHECK_EQ(x.id.born.tv_nsec, y.id.born.tv_nsec) && CHECK_EQ(x.capacity, y.capacity) &&
                      CHECK_EQ(x.slotBytes, y.slotBytes) && CHECK_EQ(x.drain.mark, y.drain.mark) &&
                      CHECK_EQ(x.drain.version, y.drain.version) && CHECK_EQ(x.drain.before, y.drain.before) &&
                      CHECK_EQ(x.drain.after, y.drain.after) && CHECK_EQ(x.drain.fromZero, y.drain.fromZero) &&
                      CHECK_EQ(x.drain.rested, y.drain.rested) && CHECK_EQ(x.drain.gaps, y.drain.gaps) &&
                      CHECK(x.drain.gapAt == y.drain.gapAt) && sameStats(x.drain.stats, y.drain.stats);
    if (!same) return false;
  }
  return sameStats(a.retired, b.retired) && CHECK_EQ(a.replacements, b.replacements) &&
         CHECK_EQ(a.lastEventMs, b.lastEventMs) && CHECK_EQ(a.fullMs, b.fullMs) && CHECK(a.writer == b.writer) &&
         CHECK_EQ(a.pidNamespace, b.pidNamespace) && CHECK_EQ(a.attributes, b.attributes);
}

// Opens the state file of a ring, and expects that it can be had.
std::unique_ptr<StateFile> opened(const std::string& ring, std::shared_ptr<const TallyPlan> plan = somePlan()) {
  std::string reason;
  auto state = StateFile::open(ring, std::move(plan), reason);
  CHECK_WITH(state != nullptr, reason);
  if (state == nullptr) throw check::TestEnded();
  return state;
}

std::string fileOf(const std::string& ring) {
  const std::filesystem::path path(ring);
  return path.parent_path() / ".nixl-otel" / path.filename();
}

struct stat statOf(const std::string& path) {
  struct stat info = {};
  ::stat(path.c_str(), &info);
  return info;
}

void writeFile(const std::string& path, const std::vector<uint8_t>& bytes) {
  const int fd = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  CHECK_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(fd);
}

// Commits some states, and returns the bytes of the file.
std::vector<uint8_t> committed(const std::string& ring, uint64_t commits) {
  const auto state = opened(ring);
  Tally tally(somePlan());
  RandomEvents events(1, 11);
  std::string reason;
  for (uint64_t n = 1; n <= commits; ++n) {
    events.fold(tally, 20);
    CHECK_WITH(state->commit(someAgent(n), tally, reason), reason);
  }
  std::vector<uint8_t> bytes(std::filesystem::file_size(fileOf(ring)));
  const FileDescriptor fd(::open(fileOf(ring).c_str(), O_RDONLY | O_CLOEXEC));
  CHECK_EQ(::pread(fd.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return bytes;
}

void foldNamed(Tally& tally, const std::string& name, const std::vector<uint64_t>& values) {
  const RingLayout& layout = *releasedLayout(1);
  std::vector<std::byte> slots(values.size() * layout.slot.size);
  for (size_t i = 0; i < values.size(); ++i) {
    RingEvent event;
    event.setName(name);
    event.category = kCustom;
    event.value = values[i];
    encodeSlot(layout.slot, slots.data() + i * layout.slot.size, event);
  }
  std::vector<TappedEvent> tapped;
  tally.fold({layout, slots.data(), static_cast<uint32_t>(values.size()), false, false, 0}, {}, tapped);
}

// Runs in a child process, and returns its text, or how it ended.
template <typename Run>
std::string inChild(Run&& run) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = run();
    const std::string all = check::firstFailure().empty() ? text : check::firstFailure();
    ::_exit(::write(ends[1], all.data(), all.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  char text[1000];
  const ssize_t got = ::read(ends[0], text, sizeof text);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  return {text, static_cast<size_t>(std::max<ssize_t>(got, 0))};
}

// Commits an agent whose attributes grow, until a commit fails. Returns the reason.
std::string commitsUntilFull(const std::string& ring, rlim_t limit) {
  const rlimit most{limit, limit};
  ::setrlimit(RLIMIT_FSIZE, &most);
  const auto state = opened(ring);
  Tally tally(somePlan());
  AgentRecord agent = someAgent(1);
  std::string reason;
  for (int i = 0; i < 1000; ++i) {
    agent.attributes.resize(static_cast<size_t>(4 * i), 'a');
    if (!state->commit(agent, tally, reason)) return reason;
  }
  return "never full";
}

// The state after so many commits: sizes and contents depend on the number.
AgentRecord agentOf(uint64_t commits) {
  AgentRecord agent = someAgent(commits);
  agent.lastEventMs = static_cast<double>(commits);
  agent.rings.resize(1 + commits / 7 % 3, agent.rings[0]);
  agent.attributes.assign(commits * 37 % 2000 * (commits % 5 == 0 ? 1 : 0), 'x');
  return agent;
}

// Adds the events between two commits: the same ones each time, so that the sums are known. Their histogram becomes
// wider now and then.
void foldCommit(Tally& tally, uint64_t commits) {
  RandomEvents(4, 77).fold(tally, 5);
  foldNamed(tally, "queue_a", {uint64_t{1} << (commits / 100 % 60)});
}

// Returns the tally with another start time, which only a record can give it.
Tally startedAt(double startTimeMs, const Tally& tally) {
  static std::vector<std::byte> half(kMostHalfBytes);
  SectionWriter to(half.data(), 0);
  TallySections().rewrite(to, tally);
  std::vector<Section> sections;
  REQUIRE(readSections(std::span(half).first(to.bytes()), sections));
  fixedAt<TallyFields>(const_cast<std::byte*>(sections[0].fixedPart.data())).startTimeMs = startTimeMs;
  Tally again(somePlan());
  std::string reason;
  CHECK_WITH(TallyRestorer(again).restore(sections, reason), reason);
  return again;
}

[[noreturn]] void commitForEver(const std::string& ring) {
  const auto state = opened(ring);
  Tally tally(somePlan());
  state->restore(tally);
  std::string reason;
  uint64_t commits = state->recovered() ? static_cast<uint64_t>(state->recovered()->lastEventMs) : 0;
  for (;;) {
    foldCommit(tally, ++commits);
    if (!state->commit(agentOf(commits), tally, reason)) ::_exit(1);
    if (commits % 2 == 0) state->rest(0);
  }
}

}  // namespace

TEST(recoversLastCommitOfEachWireVersion) {
  const auto directory = TemporaryDirectory::inMemory();
  for (const int32_t version : wireVersions()) {
    const std::string ring = directory / std::to_string(version);
    Tally tally(somePlan());
    RandomEvents events(version, static_cast<uint64_t>(version));
    AgentRecord agent;
    std::string reason;
    uint64_t commits = 0;
    for (int processes = 0; processes < 5; ++processes) {
      const auto state = opened(ring);
      CHECK_EQ(state->asideReason(), "");
      CHECK_EQ(state->recovered().has_value(), processes > 0);
      Tally recovered(somePlan());
      state->restore(recovered);
      if (processes > 0) {
        REQUIRE(sameAgent(*state->recovered(), agent));
        REQUIRE(sameTally(recovered, tally));
      }
      tally = std::move(recovered);
      for (int i = 0; i < 1 + processes * 7; ++i) {
        events.fold(tally, i % 5 == 0 ? 1 : 200);
        agent = someAgent(++commits);
        if (commits % 5 == 0) agent.attributes = std::string(commits, 'a');
        REQUIRE(state->commit(agent, tally, reason));
      }
    }
  }
}

TEST(keepsRestOfEachRing) {
  const TemporaryDirectory directory;
  Tally tally(somePlan());
  AgentRecord agent = someAgent(1);
  agent.rings.push_back(agent.rings[0]);
  agent.rings[0].drain.rested = agent.rings[1].drain.rested = false;
  std::string reason;
  for (const size_t ring : {0u, 1u}) {
    {
      const auto state = opened(directory / "ring");
      state->rest(ring);  // nothing to note it in yet
      REQUIRE(state->commit(agent, tally, reason));
      state->rest(ring);
    }
    const auto state = opened(directory / "ring");
    REQUIRE(state->recovered().has_value());
    CHECK_EQ(state->recovered()->rings[ring].drain.rested, true);
    CHECK_EQ(state->recovered()->rings[1 - ring].drain.rested, false);
  }
}

TEST(makesNoFileBeforeFirstCommit) {
  const TemporaryDirectory directory;
  std::string reason;
  {
    const auto state = opened(directory / "ring");
    CHECK(!std::filesystem::exists(directory / ".nixl-otel"));
    CHECK(!readState(directory / "ring").has_value());
    REQUIRE(state->commit(someAgent(1), Tally(somePlan()), reason));
    CHECK_EQ(std::filesystem::file_size(fileOf(directory / "ring")), 8192u);
    CHECK_EQ(statOf(directory / ".nixl-otel").st_mode & 07777, 0700u);
    CHECK_EQ(statOf(fileOf(directory / "ring")).st_mode & 07777, 0600u);
    CHECK(state->present());
    state->remove();
  }
  CHECK(!std::filesystem::exists(fileOf(directory / "ring")));
}

// A name that finds no room counts under the overflow key from its first event, so that what is shown is what is kept.
TEST(admitsUnknownKeysThatHaveRoom) {
  const TemporaryDirectory directory;
  std::string reason;
  Tally tally(somePlan());
  auto state = opened(directory / "ring");
  state->restore(tally);
  for (uint32_t i = 0; i < 256; ++i) {
    const uint64_t highest = uint64_t{1} << (i % 63);
    foldNamed(tally, "queue_" + std::to_string(i), {1, highest});
    if (i % 8 == 0) REQUIRE(state->commit(someAgent(i), tally, reason));
  }
  REQUIRE(state->commit(someAgent(256), tally, reason));
  const size_t keys = tally.events().size();
  CHECK(tally.events().back().overflow);
  CHECK(keys > 10 + 50 && keys < 10 + 120);
  CHECK_EQ(tally.events().back().count, 2 * (256 - (keys - 11)));
  CHECK(std::filesystem::file_size(fileOf(directory / "ring")) <= kMostStateBytes);
  state.reset();
  state = opened(directory / "ring");
  Tally again(somePlan());
  state->restore(again);
  CHECK(sameTally(again, tally));
  // All of them may take their largest size.
  for (size_t i = 10; i + 1 < keys; ++i) foldNamed(again, again.events()[i].name, {0, UINT64_MAX});
  foldNamed(again, "new", {1});
  CHECK_EQ(again.events().size(), keys);
  CHECK_WITH(state->commit(someAgent(257), again, reason), reason);
  CHECK(std::filesystem::file_size(fileOf(directory / "ring")) <= kMostStateBytes);
  again.admitKeys(nullptr);
}

TEST(refusesPlanWithoutRoom) {
  const TemporaryDirectory directory;
  TallyOptions options = someOptions();
  options.typeCategories.assign(100, kPerformance);
  options.typeBounds.assign(100, 0);
  std::string reason;
  CHECK(StateFile::open(directory / "ring", planFor(options), reason) == nullptr);
  CHECK_WITH(reason.find("more than a state file may have") != std::string::npos, reason);
}

TEST(setsAsideWhatItCannotUse) {
  const auto directory = TemporaryDirectory::inMemory();
  const std::string ring = directory / "ring";
  const std::string aside = directory / ".nixl-otel/.nixl-otel";
  const auto bytes = committed(ring, 3);
  const auto asideReason = [&](std::vector<uint8_t> changed, bool kept) {
    std::filesystem::remove(aside);
    writeFile(fileOf(ring), changed);
    const auto state = opened(ring);
    CHECK(!state->recovered().has_value());
    CHECK(!std::filesystem::exists(fileOf(ring)));
    CHECK_EQ(std::filesystem::exists(aside), kept);
    std::string reason;
    CHECK_WITH(state->commit(someAgent(1), Tally(somePlan()), reason), reason);
    return state->asideReason();
  };
  const auto with = [&](size_t offset, uint8_t value) {
    auto changed = bytes;
    changed[offset] = value;
    return changed;
  };
  CHECK_EQ(asideReason({bytes.begin(), bytes.begin() + 255}, true), "it is cut");
  CHECK_EQ(asideReason({bytes.begin(), bytes.begin() + 300}, true), "it is cut");
  CHECK_EQ(asideReason(with(3, 1), true), "it is no state file");
  CHECK_EQ(asideReason(with(8, 2), true), "it has layout 2, and this version reads layout 1");
  CHECK_EQ(asideReason(with(16, static_cast<uint8_t>(bytes[16] + 1)), false),
           "it was written before the machine's last boot");
  // Nothing is missing if the first commit did not happen.
  CHECK_EQ(asideReason({}, false), "");
  auto uncommitted = bytes;
  for (size_t i = 0; i < sizeof(StateWord); ++i) uncommitted.at(StateHead::kWordOffset + i) = 0;
  CHECK_EQ(asideReason(uncommitted, false), "");
  auto large = bytes;
  large.resize(kMostStateBytes + 1);
  CHECK_EQ(asideReason(large, false), "it has 2097153 bytes, more than a state file may have");
}

TEST(survivesForgedAndCutFiles) {
  const auto directory = TemporaryDirectory::inMemory();
  const std::string ring = directory / "ring";
  const auto bytes = committed(ring, 3);
  std::string reason;
  size_t refused = 0;
  const auto check = [&](const std::vector<uint8_t>& forged) {
    writeFile(fileOf(ring), forged);
    const auto state = opened(ring);
    Tally tally(somePlan());
    state->restore(tally);
    if (!state->recovered()) ++refused;
    CHECK(state->recovered().has_value() || !state->asideReason().empty());
    CHECK_WITH(state->commit(someAgent(1), tally, reason), reason);
    CHECK_WITH(state->commit(someAgent(2), tally, reason), reason);
    std::filesystem::remove(fileOf(ring));
    tally.admitKeys(nullptr);
  };
  const size_t step = check::kSanitized ? 7 : 1;
  for (size_t i = 0; i < bytes.size(); i += step) {
    if (i >= 16 && i < 32) continue;    // the boot
    if (i >= 128 && i < 136) continue;  // W: 0 means that nothing was committed
    auto forged = bytes;
    forged[i] ^= 0xFF;
    check(forged);
    if (i % 16 == 0 && i != 0) check({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(i)});
  }
  CHECK(refused > 1000 / step);
}

TEST(keepsRecordAndSumsOfOtherPlan) {
  const TemporaryDirectory directory;
  committed(directory / "ring", 3);
  Tally before(somePlan());
  opened(directory / "ring")->restore(before);
  before.admitKeys(nullptr);
  TallyOptions other = someOptions();
  other.bounds[0].push_back(5000);
  const auto plan = planFor(other);
  const auto state = opened(directory / "ring", plan);
  REQUIRE(state->recovered().has_value());
  CHECK(sameAgent(*state->recovered(), someAgent(3)));
  CHECK_EQ(state->asideReason(), std::string());
  Tally tally(plan);
  state->restore(tally);
  CHECK(before.events()[kXferTime].count > 0);
  CHECK_EQ(tally.events()[kXferTime].count, before.events()[kXferTime].count);
  CHECK(tally.events()[kXferTime].sum == before.events()[kXferTime].sum);
  CHECK(tally.startOf(HistogramOf::kEvent, kXferTime) != nullptr);
  std::string reason;
  CHECK(state->commit(someAgent(4), tally, reason));
  tally.admitKeys(nullptr);
}

// Each key that is admitted has its room in both halves, also if many come between two commits.
TEST(commitsAllKeysThatItAdmitted) {
  const TemporaryDirectory directory;
  const std::string ring = directory / "ring";
  const std::string result = inChild([&] {
    const rlimit most{24 * 1024, 24 * 1024};
    ::setrlimit(RLIMIT_FSIZE, &most);
    const auto state = opened(ring);
    Tally tally(somePlan());
    state->restore(tally);
    std::string reason;
    if (!state->commit(someAgent(1), tally, reason)) return "first: " + reason;
    for (int i = 0; i < 250; ++i) foldNamed(tally, "event-" + std::to_string(i), {1, 2});
    if (!tally.events().back().overflow) return std::string("all keys had room");
    const bool isCommitted = state->commit(someAgent(2), tally, reason) && state->commit(someAgent(3), tally, reason);
    tally.admitKeys(nullptr);
    return isCommitted ? std::string("committed") : reason;
  });
  CHECK_EQ(result, "committed");
}

// A half that was recovered may be anywhere: the other one never touches it.
TEST(placesHalvesApart) {
  const TemporaryDirectory directory;
  const std::string ring = directory / "ring";
  const auto bytes = committed(ring, 1);
  StateHead head;
  std::memcpy(&head, bytes.data(), sizeof head);
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + StateHead::kWordOffset, sizeof word);
  const uint32_t half = StateWord{word}.half();
  const StatePlace from = head.halves[half];
  for (uint32_t offset = 3000; offset <= 17000; offset += 40) {
    head.halves[half].offset = offset;
    std::vector<uint8_t> moved(offset + from.bytes);
    std::copy(bytes.begin(), bytes.begin() + StateHead::kBytes, moved.begin());
    std::memcpy(moved.data(), &head, sizeof head);
    std::copy_n(bytes.begin() + from.offset, from.bytes, moved.begin() + offset);
    writeFile(fileOf(ring), moved);
    const auto state = opened(ring);
    REQUIRE(state->recovered().has_value());
    Tally tally(somePlan());
    state->restore(tally);
    std::string reason;
    REQUIRE(state->commit(someAgent(2), tally, reason));
    tally.admitKeys(nullptr);
    StateHead now;
    const FileDescriptor fd(::open(fileOf(ring).c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE_EQ(::pread(fd.get(), &now, sizeof now, 0), static_cast<ssize_t>(sizeof now));
    const StatePlace& other = now.halves[1 - half];
    CHECK(other.offset >= StateHead::kBytes);
    CHECK(other.offset + other.bytes <= offset || other.offset >= offset + from.bytes);
  }
}

// New histograms of many keys do not fit: those keys go on without.
TEST(keepsKeysWithoutRoomForNewHistograms) {
  const TemporaryDirectory directory;
  const std::string ring = directory / "ring";
  std::string reason;
  const auto name = [](int i) { return "event-" + std::to_string(i); };
  {
    const auto state = opened(ring);
    Tally tally(somePlan());
    state->restore(tally);
    for (int i = 0; i < 250; ++i) foldNamed(tally, name(i), {1, 2});
    REQUIRE(state->commit(someAgent(1), tally, reason));
    tally.admitKeys(nullptr);
  }
  TallyOptions options = someOptions();
  options.rules.push_back({.type = std::nullopt, .name = "event-*", .category = std::nullopt, .bounds = 1});
  for (const bool isAgain : {false, true}) {
    const auto state = opened(ring, planFor(options));
    REQUIRE(state->recovered().has_value());
    Tally tally(planFor(options));
    state->restore(tally);
    size_t unknown = 0, histograms = 0;
    for (const EventTally& event : tally.events()) {
      if (event.known) continue;
      ++unknown;
      histograms += event.buckets != nullptr;
      CHECK_EQ(event.count, isAgain ? 4u : 2u);
    }
    CHECK_EQ(unknown, 250u);
    CHECK(histograms > 10 && histograms < 250);
    for (int i = 0; i < 250; ++i) foldNamed(tally, name(i), {1, uint64_t{1} << 40});
    REQUIRE(state->commit(someAgent(2), tally, reason));
    REQUIRE(state->commit(someAgent(3), tally, reason));
    CHECK(std::filesystem::file_size(fileOf(ring)) <= kMostStateBytes);
    tally.admitKeys(nullptr);
  }
}

TEST(refusesFilesThatOthersCanChange) {
  const TemporaryDirectory directory;
  const std::string ring = directory / "ring";
  const std::string file = fileOf(ring);
  const std::string folder = directory / ".nixl-otel";
  const auto bytes = committed(ring, 1);
  const auto reason = [&] {
    std::string text;
    CHECK(StateFile::open(ring, somePlan(), text) == nullptr);
    CHECK(!readState(ring).has_value());
    return text;
  };
  CHECK(readState(ring).has_value());
  std::filesystem::permissions(file, std::filesystem::perms{0620});
  CHECK_EQ(reason(), "its state file is refused: its mode is 0620, not 0600");
  std::filesystem::permissions(file, std::filesystem::perms{0600});
  std::filesystem::create_hard_link(file, directory / "second");
  CHECK_EQ(::access(file.c_str(), F_OK), 0);
  std::string text;
  CHECK(StateFile::open(ring, somePlan(), text) == nullptr);
  CHECK_EQ(text, "its state file is refused: it has 2 names");
  std::filesystem::remove(file);
  std::filesystem::create_symlink(directory / "second", file);
  CHECK_EQ(reason(), "its state file is a symbolic link");
  std::filesystem::remove(file);
  REQUIRE_EQ(::mkfifo(file.c_str(), 0600), 0);
  CHECK_EQ(reason(), "its state file is refused: it is no regular file");
  std::filesystem::remove(file);
  std::filesystem::permissions(folder, std::filesystem::perms{0755});
  CHECK_EQ(reason(), "its folder .nixl-otel is refused: its mode is 0755, not 0700");
  std::filesystem::rename(folder, directory / "elsewhere");
  std::filesystem::create_directory_symlink(directory / "elsewhere", folder);
  CHECK_EQ(reason(), "its folder .nixl-otel is no folder");
  std::filesystem::remove(folder);
  writeFile(folder, bytes);
  CHECK_EQ(reason(), "its folder .nixl-otel is no folder");
}

// A directory gives its group to the folders in it, and the maker of this one died before it changed the mode.
TEST(usesFolderWithTheGroupOfItsDirectory) {
  const TemporaryDirectory directory;
  REQUIRE_EQ(::mkdir((directory / ".nixl-otel").c_str(), 0700), 0);
  REQUIRE_EQ(::chmod((directory / ".nixl-otel").c_str(), 02700), 0);
  CHECK_EQ(statOf(directory / ".nixl-otel").st_mode & 07777, 02700u);
  committed(directory / "ring", 1);
  CHECK(opened(directory / "ring")->recovered().has_value());
}

// The path of the ring goes over a link, which leads elsewhere once the ring is open.
TEST(followsNoLinkAwayFromTheRing) {
  const TemporaryDirectory directory;
  const std::string first = directory / "first";
  const std::string second = directory / "second";
  const std::string link = directory / "link";
  const auto leadTo = [&](const std::string& target) {
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(target, link);
  };
  for (const std::string& one : {first, second}) {
    std::filesystem::create_directory(one);
    writeFile(one + "/ring", {});
  }
  const FileId ring = *fileAt(first + "/ring");
  committed(second + "/ring", 1);
  leadTo(second);
  std::string reason;
  CHECK(StateFile::open(link + "/ring", somePlan(), reason, &ring) == nullptr);
  CHECK_EQ(reason, kRingIsElsewhere);
  CHECK_EQ(AgentState(link + "/ring", ring, somePlan()).recall({ring, {}}).notYet, kRingIsElsewhere);
  CHECK(opened(second + "/ring")->recovered().has_value());
  std::filesystem::remove_all(second + "/.nixl-otel");
  leadTo(first);
  const auto state = StateFile::open(link + "/ring", somePlan(), reason, &ring);
  REQUIRE(state != nullptr);
  leadTo(second);
  CHECK(!state->commit(someAgent(1), Tally(somePlan()), reason));
  CHECK_EQ(reason, kRingIsElsewhere);
  CHECK(!std::filesystem::exists(second + "/.nixl-otel"));
}

// As root: a process of another user finds a folder that is not its own.
TEST(refusesFolderOfAnotherUser) {
  if (::geteuid() != 0) {
    std::printf("skipped: refusesFolderOfAnotherUser needs root\n");
    return;
  }
  const TemporaryDirectory directory;
  std::filesystem::permissions(directory.path, std::filesystem::perms{0777});
  committed(directory / "ring", 1);
  const auto reasonOf = [&](uid_t folder, uid_t user) {
    CHECK_EQ(::chown((directory / ".nixl-otel").c_str(), folder, folder), 0);
    return inChild([&] {
      std::string reason;
      if (::setgid(user) != 0 || ::setuid(user) != 0) return std::string("setuid");
      CHECK(StateFile::open(directory / "ring", somePlan(), reason) == nullptr);
      return reason;
    });
  };
  CHECK_EQ(reasonOf(0, 65534), "its folder .nixl-otel cannot be opened: Permission denied");
  CHECK_EQ(reasonOf(1, 0), "its folder .nixl-otel is refused: its owner is user 1, not 0");
  CHECK_EQ(reasonOf(65534, 65534), "its state file cannot be opened: Permission denied");
}

TEST(refusesFileThatAnotherConsumerHas) {
  const TemporaryDirectory directory;
  std::string reason;
  auto first = opened(directory / "ring");
  auto second = opened(directory / "ring");
  REQUIRE(first->commit(someAgent(1), Tally(somePlan()), reason));
  CHECK(!second->commit(someAgent(1), Tally(somePlan()), reason));
  CHECK_EQ(reason, "its state file cannot be opened: File exists");
  CHECK(StateFile::open(directory / "ring", somePlan(), reason) == nullptr);
  CHECK_EQ(reason, "another process holds the lock of its state file");
  CHECK(first->present());
  first.reset();
  CHECK(opened(directory / "ring")->recovered().has_value());
}

// The process that has the lock removes the file, and then lets it go.
TEST(opensNoFileWithoutItsName) {
  const TemporaryDirectory directory;
  const std::string ring = directory / "ring";
  committed(ring, 1);
  beforeLock = [&] { std::filesystem::remove(fileOf(ring)); };
  CHECK(!opened(ring)->recovered().has_value());
  committed(ring, 2);
  std::filesystem::rename(fileOf(ring), directory / "last");
  committed(ring, 1);
  beforeLock = [&] { std::filesystem::rename(directory / "last", fileOf(ring)); };
  const auto state = opened(ring);
  REQUIRE(state->recovered().has_value());
  CHECK(sameAgent(*state->recovered(), someAgent(2)));
}

TEST(makesFilesOfItsOwnModes) {
  const TemporaryDirectory directory;
  const mode_t before = ::umask(0277);
  committed(directory / "ring", 1);
  ::umask(before);
  CHECK_EQ(statOf(directory / ".nixl-otel").st_mode & 07777, 0700u);
  CHECK_EQ(statOf(fileOf(directory / "ring")).st_mode & 07777, 0600u);
}

TEST(leavesFileThatReplacedItsOwn) {
  const TemporaryDirectory directory;
  const std::string file = fileOf(directory / "ring");
  std::string reason;
  const auto state = opened(directory / "ring");
  REQUIRE(state->commit(someAgent(1), Tally(somePlan()), reason));
  std::filesystem::rename(file, directory / "kept");
  CHECK(!state->present());
  writeFile(file, {1, 2, 3});
  CHECK(!state->present());
  CHECK(state->commit(someAgent(2), Tally(somePlan()), reason));  // what happens to the file changes no number
  state->remove();
  CHECK_EQ(std::filesystem::file_size(file), 3u);
}

TEST(writesToFolderThatItHoldsThoughAnotherTookItsName) {
  const TemporaryDirectory directory;
  std::string reason;
  const auto first = opened(directory / "a");
  REQUIRE(first->commit(someAgent(1), Tally(somePlan()), reason));
  std::filesystem::rename(directory / ".nixl-otel", directory / "old");
  const auto second = opened(directory / "b");
  REQUIRE(second->commit(someAgent(1), Tally(somePlan()), reason));
  CHECK(first->commit(someAgent(2), Tally(somePlan()), reason));
  CHECK(!first->present());
  CHECK(second->present());
  CHECK(std::filesystem::exists(directory / ".nixl-otel/b"));
  first->remove();
  CHECK(std::filesystem::is_empty(directory / "old"));
}

TEST(removesStateOfRingsThatAreGone) {
  const TemporaryDirectory directory;
  for (const char* name : {"there", "gone", "busy"}) committed(directory / name, 1);
  writeFile(directory / "there", {});
  writeFile(directory / ".nixl-otel/.nixl-otel", {1});
  const auto busy = opened(directory / "busy");
  std::set<std::string> gone;
  removeOrphanedState(directory.path, {}, gone);
  CHECK(gone == (std::set{directory / "gone", directory / "busy"}));
  CHECK(std::filesystem::exists(fileOf(directory / "gone")));
  std::set<std::string> more;
  removeOrphanedState(directory.path, gone, more);
  CHECK(more.empty());
  CHECK(std::filesystem::exists(fileOf(directory / "there")));
  CHECK(std::filesystem::exists(fileOf(directory / "busy")));
  CHECK(std::filesystem::exists(directory / ".nixl-otel/.nixl-otel"));
  CHECK(!std::filesystem::exists(fileOf(directory / "gone")));
  removeOrphanedState(directory / "absent", gone, more);
}

TEST(limitsSpaceOfFolder) {
  const TemporaryDirectory directory;
  std::string reason;
  committed(directory / "ring", 1);
  const std::string other = fileOf(directory / "other");
  writeFile(other, {});
  std::filesystem::resize_file(other, StateFolder::kMostBytes - 10'000);
  auto state = opened(directory / "next");
  CHECK(!state->commit(someAgent(1), Tally(somePlan()), reason));
  CHECK_EQ(reason, "the state files of its directory may take 16777216 bytes in all");
  CHECK(!std::filesystem::exists(fileOf(directory / "next")));
  CHECK(opened(directory / "ring")->recovered().has_value());  // one that is there already stays in use
  std::filesystem::remove(other);
  state = opened(directory / "next");
  CHECK_WITH(state->commit(someAgent(1), Tally(somePlan()), reason), reason);
}

// A limit of the process on the size of files must not end it with a signal.
TEST(endsStateAtLimitOfFileSize) {
  const TemporaryDirectory directory;
  for (const rlim_t limit : {rlim_t{100}, rlim_t{4096}, rlim_t{8192}}) {
    const std::string reason = inChild([&] { return commitsUntilFull(directory / "ring", limit); });
    CHECK_WITH(
        reason.find(limit < 256 ? "cannot be written: File too large" : "bytes: File too large") != std::string::npos,
        reason);
    CHECK(!std::filesystem::exists(fileOf(directory / "ring")));
  }
}

TEST(endsStateWithoutSpace) {
  const TemporaryDirectory directory;
  const std::string mounted = directory / "small";
  std::filesystem::create_directory(mounted);
  if (::mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=1040k") != 0) {
    std::printf("skipped: endsStateWithoutSpace may not mount a tmpfs\n");
    return;
  }
  const std::string reason = inChild([&] { return commitsUntilFull(mounted + "/ring", RLIM_INFINITY); });
  CHECK_WITH(reason.find("of which agents may need 1048 kB: a state file could end an agent") != std::string::npos,
             reason);
  CHECK(!std::filesystem::exists(fileOf(mounted + "/ring")));
  ::umount(mounted.c_str());
}

// The commit runs inside the claim on a ring, whose own faults stay its own.
TEST(endsStateOfTruncatedFileInsideOtherClaim) {
  const TemporaryDirectory directory;
  writeFile(directory / "mapped", std::vector<uint8_t>(4096));
  const FileDescriptor fd(::open((directory / "mapped").c_str(), O_RDWR | O_CLOEXEC));
  HeaderMapping ring;
  REQUIRE_EQ(ring.map(fd.get(), 4096, true), 0);
  std::string reason;
  struct Case {
    bool rests;
    bool growsAgain;  // then the commit faults no more, and only the first page is not that of the file
  };
  for (const Case now : {Case{false, false}, {true, false}, {true, true}}) {
    const auto state = opened(directory / "ring");
    const MappingClaim claim(ring);
    REQUIRE(state->commit(someAgent(1), Tally(somePlan()), reason));
    const auto size = std::filesystem::file_size(fileOf(directory / "ring"));
    std::filesystem::resize_file(fileOf(directory / "ring"), 0);
    if (now.rests) state->rest(0);
    if (now.growsAgain) std::filesystem::resize_file(fileOf(directory / "ring"), size);
    CHECK(!state->commit(someAgent(2), Tally(somePlan()), reason));
    CHECK_EQ(reason, "its state file was truncated");
    CHECK(!std::filesystem::exists(fileOf(directory / "ring")));
    CHECK(!claim.faulted());
    REQUIRE_EQ(::ftruncate(fd.get(), 0), 0);
    ring.base()[0] = std::byte{1};
    CHECK(claim.faulted());
    REQUIRE_EQ(::ftruncate(fd.get(), 4096), 0);
    REQUIRE_EQ(ring.map(fd.get(), 4096, true), 0);
  }
}

// The consumer is killed at random places of its commits: what the next one finds is one of them, and none before the
// last that a reader saw. Files grow and shrink meanwhile, and a consumer goes on where the killed one ended.
TEST(recoversCommittedStateOfKilledConsumer) {
  const auto directory = TemporaryDirectory::inMemory();
  const std::string ring = directory / "ring";
  std::mt19937_64 random(1);
  uint64_t last = 0;
  Tally expectedTally(somePlan());
  for (int kills = 0; kills < (check::kSanitized ? 20 : 150); ++kills) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);  // the parent may have failed
      commitForEver(ring);
    }
    uint64_t seen = last;
    const uint64_t until = last + 1 + random() % 300;
    while (seen < until) {
      const auto summary = readState(ring);
      if (!summary) continue;
      const auto commits = static_cast<uint64_t>(summary->lastEventMs);
      if (!CHECK(commits >= seen)) break;
      seen = commits;
      int status = 0;
      if (!CHECK_EQ(::waitpid(child, &status, WNOHANG), 0)) return;
    }
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    const auto state = opened(ring);
    REQUIRE(state->recovered().has_value());
    const auto found = static_cast<uint64_t>(state->recovered()->lastEventMs);
    REQUIRE(found >= seen);
    while (last < found) foldCommit(expectedTally, ++last);
    AgentRecord expected = agentOf(last);
    expected.rings[0].drain.rested |= last % 2 == 0 && state->recovered()->rings[0].drain.rested;
    REQUIRE(sameAgent(*state->recovered(), expected));
    Tally tally(somePlan());
    state->restore(tally);
    REQUIRE(sameTally(tally, startedAt(tally.startTimeMs(), expectedTally)));
    tally.admitKeys(nullptr);
  }
}

TEST(skipsFolderOfStatesAtEveryDepth) {
  const TemporaryDirectory directory;
  for (const char* folder : {"", "/a", "/a/b", "/a/b/c"}) {
    std::filesystem::create_directories(directory.path + folder);
    committed(directory.path + folder + "/ring", 1);
    writeFile(directory.path + folder + "/ring", {});
  }
  const auto withState = [](const DirectoryTree& tree) {
    const auto hasState = [](const auto& entry) { return entry.second.hasState; };
    return std::count_if(tree.folders().begin(), tree.folders().end(), hasState);
  };
  DirectoryTree all(directory.path, "");
  CHECK(all.refresh());
  std::vector<std::string> agents;
  for (const FoundFile& file : all.files()) agents.push_back(file.agent);
  std::sort(agents.begin(), agents.end());
  CHECK(agents == (std::vector<std::string>{"a/b/c/ring", "a/b/ring", "a/ring", "ring"}));
  CHECK_EQ(withState(all), 4);
  std::string agent;
  CHECK(all.covers(directory / "a/ring", agent));
  CHECK(!all.covers(directory / "a/.nixl-otel/ring", agent));
  DirectoryTree some(directory.path, "r*");
  some.refresh();
  CHECK_EQ(some.files().size(), 1u);
  CHECK_EQ(withState(some), 1);
}

int main() { return check::run("state_file_test"); }
