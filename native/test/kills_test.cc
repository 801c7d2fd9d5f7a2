// A consumer that is killed a thousand times, at random and at each step of its protocol, while agents push events,
// rebuild their rings, end, and come back. No consumer may show fewer events than an earlier one, and at the end all
// numbers must equal those of a consumer that never died.
//
// Variables: KILLS is the number of kills at random, SEED the seed of a run, which the test prints when it fails.

#include <algorithm>
#include <cinttypes>
#include <map>
#include <optional>

#include "check.h"
#include "kill_agents.h"
#include "kill_steps.h"
#include "ring/ring_file.h"
#include "temporary_directory.h"
#include "test_source.h"

using namespace nixl_otel;
using namespace nixl_otel::kills;
using std::chrono::milliseconds;

namespace {

uint64_t numberFrom(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The consumer's process: it drains and shows its counts until it is killed, or until the agents have ended.
class Consumer {
 public:
  Consumer(Board& board, const std::string& directory) : board_(board), directory_(directory), source_(options()) {}

  void run() {
    while (!board_.ended) {
      source_.drain();
      checkCounts();
      ++board_.drains;
    }
    while (!allEmpty()) source_.drain();
    checkCounts();
    compareAll();
  }

 private:
  void compareAll() {
    size_t found = 0;
    source_.snapshot([&](const SourceAgent& seen, const AgentStatus& status, const Tally& tally) {
      compare(logOf(seen.name), status, tally);
      ++found;
    });
    if (found != board_.agents) fail(std::to_string(found) + " of " + std::to_string(board_.agents) + " agents shown");
  }

  SourceOptions options() const {
    SourceOptions options = TestSource::optionsFor(directory_, milliseconds(3'600'000));
    options.tally = kills::tallyOptions();
    options.state = true;
    return options;
  }

  [[noreturn]] void fail(const std::string& text) const {
    std::snprintf(board_.failure, sizeof board_.failure, "%s", text.c_str());
    ::_exit(1);
  }

  AgentLog& logOf(const std::string& name) const {
    for (uint32_t i = 0; i < board_.agents; ++i) {
      if (board_.log[i].name == name) return board_.log[i];
    }
    fail("no agent has the name " + name);
  }

  // What a consumer has shown must count for ever, and nothing may be shown that was not pushed.
  void checkCounts() {
    for (const StateProblem& problem : source_.report().stateProblems) fail(problem.path + ": " + problem.reason);
    source_.snapshot([&](const SourceAgent& seen, const AgentStatus& status, const Tally& tally) {
      AgentLog& log = logOf(seen.name);
      uint64_t count = 0;
      for (const EventTally& event : tally.events()) count += event.count;
      const std::string shown = seen.name + ": shows " + std::to_string(count) + " events";
      if (count < log.shown) fail(shown + ", an earlier consumer " + std::to_string(log.shown));
      if (const uint64_t begun = log.begun(); count > begun) fail(shown + " of " + std::to_string(begun) + " pushed");
      checkStatus(shown, status);
      log.shown = count;
    });
  }

  void checkStatus(const std::string& shown, const AgentStatus& status) const {
    if (status.drains.suspect || status.drains.foreignMoves != 0) {
      fail(shown + ", suspect: " + std::to_string(status.drains.foreignMoves) + " foreign moves");
    }
  }

  bool allEmpty() const {
    for (uint32_t i = 0; i < board_.agents; ++i) {
      const std::string path = directory_ + "/" + board_.log[i].name;
      const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      const HeaderFields header = readHeader(fd.get());
      if (header.state != RingState::kReady || header.readPos != header.writePos) return false;
    }
    return true;
  }

  void compare(const AgentLog& log, const AgentStatus& status, const Tally& tally) const {
    Tally expected(planFor(kills::tallyOptions()));
    for (uint32_t i = 0; i < log.count; ++i) {
      const uint64_t pushed = log.each[i].pushed;
      const uint64_t counted = log.habit == Habit::kInterrupted ? countedOf(tally, kIncarnationType + i) : pushed;
      const bool isLast = i + 1 == log.count;
      if (counted > pushed || counted + (isLast ? 0 : log.each[i].left) < pushed) {
        fail(std::string(log.name) + ": incarnation " + std::to_string(i) + " pushed " + std::to_string(pushed) +
             " events, of which " + std::to_string(log.each[i].left) + " were left, counted " +
             std::to_string(counted));
      }
      foldInto(expected, log, i, counted);
    }
    checkStatus(log.name, status);
    const bool withGaps = log.habit == Habit::kFull;
    const auto wanted = describe(expected, withGaps);
    const auto found = describe(tally, withGaps);
    if (wanted == found) return;
    std::string text = std::string(log.name) + " has " + std::to_string(log.count) + " incarnations; ";
    for (size_t i = 0; i < std::max(wanted.size(), found.size()); ++i) {
      const std::string one = i < wanted.size() ? wanted[i] : "nothing";
      const std::string other = i < found.size() ? found[i] : "nothing";
      if (one != other) fail(text + "expected " + one + ", found " + other);
    }
  }

  static uint64_t countedOf(const Tally& tally, uint32_t type) {
    for (const EventTally& event : tally.events()) {
      if (event.type == type || event.name == "unknown-" + std::to_string(type)) return event.count;
    }
    return 0;
  }

  Board& board_;
  const std::string directory_;
  TestSource source_;
};

// Agents and one consumer after another. This process has no thread, because it forks all others.
class Run {
 public:
  explicit Run(uint32_t deaths)
      : board_(*sharedMemory<Board>()),
        died_(*sharedMemory<std::atomic<uint32_t>>()),
        seed_(numberFrom("SEED", ::getpid())),
        random_(seed_) {
    board_.seed = seed_;
    board_.plannedDeaths = std::max(deaths, 1u);
    const auto add = [this](Habit habit, const char* name) {
      AgentLog& log = board_.log[board_.agents++];
      log.habit = habit;
      std::snprintf(log.name, sizeof log.name, "%s", name);
    };
    add(Habit::kSteady, "steady");
    add(Habit::kFull, "full");
    add(Habit::kRestarting, "restarting");
    add(Habit::kReplacing, "replacing");
    add(Habit::kInterrupted, "interrupted-0");
    add(Habit::kInterrupted, "interrupted-1");
    for (uint32_t i = 0; i < board_.agents; ++i) {
      AgentLog& log = board_.log[i];
      keepers_.push_back(keepAgent(board_, log, directory_ / log.name));
    }
  }
  ~Run() {
    for (const pid_t keeper : keepers_) {
      if (keeper == 0) continue;
      ::kill(keeper, SIGKILL);
      ::waitpid(keeper, nullptr, 0);
    }
    ::munmap(&board_, sizeof board_);
    ::munmap(&died_, sizeof died_);
  }

  // Kills a consumer at any time of its life, also while it starts.
  void killAtRandom() {
    start();
    const uint64_t drains = board_.drains + random_() % 16;
    const bool early = random_() % 4 == 0;
    while (!early && board_.drains < drains && !hasEnded()) pauseBriefly();
    for (const auto until = Clock::now() + std::chrono::microseconds(random_() % 3000); Clock::now() < until;) {
    }
    end();
  }

  // Lets a consumer kill itself at a step. False if it did not reach this step.
  bool killAt(const DeathPlan& plan) {
    const uint32_t died = died_;
    start(plan);
    const uint64_t drains = board_.drains + kPatience;
    while (board_.drains < drains && !hasEnded()) pauseBriefly();
    end();
    return died_ != died;
  }

  // Makes the interrupted agents rebuild their rings while no consumer lives.
  void interruptAgents() {
    std::map<AgentLog*, uint32_t> counts;
    for (uint32_t i = 0; i < board_.agents; ++i) {
      AgentLog& log = board_.log[i];
      if (log.habit == Habit::kInterrupted && log.count + 1 < kMostInterruptions) counts[&log] = log.count;
    }
    ++board_.interrupts;
    for (const auto& [log, count] : counts) {
      while (log->count == count) pauseBriefly();
    }
  }

  // Ends the agents, and lets a last consumer compare all numbers. Returns "" or the first difference.
  std::string finish() {
    start();
    for (const uint64_t drains = board_.drains + kPatience; board_.drains < drains && !failed(); pauseBriefly())
      hasEnded();
    board_.ending = true;
    for (pid_t& keeper : keepers_) {
      int status = 0;
      while (!failed() && keeper != 0) {
        if (::waitpid(keeper, &status, WNOHANG) != 0) keeper = 0;
        hasEnded();
        pauseBriefly();
      }
      if (status != 0) noteFailure("an agent failed");
    }
    board_.ended = true;
    while (!hasEnded()) pauseBriefly();
    return failure();
  }

  bool failed() const { return board_.failure[0] != 0; }
  std::string failure() const {
    return failed() ? "SEED=" + std::to_string(seed_) + ", after " + std::to_string(board_.deaths) +
                          " kills: " + board_.failure
                    : "";
  }
  uint64_t events() const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < board_.agents; ++i) sum += board_.log[i].begun();
    return sum;
  }
  uint32_t incarnations() const {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < board_.agents; ++i) sum += board_.log[i].count;
    return sum;
  }
  std::mt19937_64& random() { return random_; }

 private:
  static constexpr uint64_t kPatience = 60;

  void noteFailure(const char* text) {
    if (!failed()) std::snprintf(board_.failure, sizeof board_.failure, "%s", text);
  }

  void start(const std::optional<DeathPlan>& plan = std::nullopt) {
    consumer_ = forkChild();
    if (consumer_ != 0) return;
#if defined(__x86_64__)
    if (plan) StepTrap::instance().arm(board_, *plan, died_);
#endif
    Consumer(board_, directory_.path).run();
    ::_exit(0);
  }

  // True if the consumer has ended, by a kill or a failure. Reaps it.
  bool hasEnded() {
    if (consumer_ == 0) return true;
    int status = 0;
    if (::waitpid(consumer_, &status, WNOHANG) == 0) return false;
    consumer_ = 0;
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!killed && status != 0) noteFailure(("the consumer ended with status " + std::to_string(status)).c_str());
    board_.drains += 2;
    ++board_.deaths;
    return true;
  }

  void end() {
    if (consumer_ != 0) ::kill(consumer_, SIGKILL);
    while (!hasEnded()) pauseBriefly();
  }

  const TemporaryDirectory directory_;
  Board& board_;
  std::atomic<uint32_t>& died_;
  const uint64_t seed_;
  std::mt19937_64 random_;
  std::vector<pid_t> keepers_;
  pid_t consumer_ = 0;
};

uint32_t plannedKills() { return static_cast<uint32_t>(numberFrom("KILLS", check::kSanitized ? 40 : 1000)); }

}  // namespace

TEST(countsEachEventOnceOverKillsAtRandom) {
  const uint32_t kills = plannedKills();
  Run run(kills);
  for (uint32_t i = 0; i < kills && !run.failed(); ++i) {
    run.killAtRandom();
    if (run.random()() % 8 == 0) run.interruptAgents();
  }
  CHECK_EQ(run.finish(), std::string());
  std::printf("%u kills at random: %" PRIu64 " events of %u incarnations\n", kills, run.events(), run.incarnations());
}

TEST(countsEachEventOnceOverKillsAtEachStep) {
  if (!kCanKillAtSteps) return;
  const uint32_t rounds = plannedKills() / 2 / kSteps;
  Run run(rounds * kSteps);
  uint32_t reached[kSteps] = {};
  for (uint32_t i = 0; i < rounds * kSteps && !run.failed(); ++i) {
    auto& random = run.random();
    const auto step = static_cast<Step>(i % kSteps);
    const uint32_t often = step == Step::kRecovery || step == Step::kFill || step == Step::kRead ? 60 : 4;
    reached[i % kSteps] += run.killAt({step, static_cast<uint32_t>(random() % often), random() % 2 == 0});
    if (random() % 4 == 0) run.interruptAgents();
  }
  CHECK_EQ(run.finish(), std::string());
  for (size_t i = 0; i < kSteps; ++i) {
    std::printf("%s %u ", kStepNames[i], reached[i]);
    CHECK_WITH(reached[i] >= rounds / 4, kStepNames[i]);
  }
  std::printf("of %u kills at each step: %" PRIu64 " events of %u incarnations\n", rounds, run.events(),
              run.incarnations());
}

int main() { return check::run("kills_test"); }
