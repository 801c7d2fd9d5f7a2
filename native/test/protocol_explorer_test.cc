// Runs the real DrainProtocol against every schedule of a producer that pushes and rebuilds the ring at any time, in
// every store order that a compiler may choose, on small rings.
//
// Within the limits of a setting the exploration is exhaustive:
// - The consumer opens the ring at any time, and makes any number of drain calls at any time, with any allowed budget.
// - Before each memory access of the consumer the others take any number of steps.
// - The producer ends at any access, and all sides end in each state outside a rebuild.
// Memory is sequentially consistent. In real memory, the memory orders of the code ensure that each side sees the
// stores of the other in their order.

#include "check.h"
#include "explorer_search.h"

using namespace explorer;

namespace {

bool thorough = false;  // --all: runs long explorations, too

uint8_t few() { return thorough ? 2 : 1; }  // pushes before the restart

Setting setting(const char* name) {
  Setting s;
  s.name = name;
  s.firstWithoutPauses = thorough;
  return s;
}

// Returns a setting in which a pause may end in a visible rebuild: the protocol takes two pauses at each place.
Setting restartingTo(uint8_t from, uint8_t to, uint8_t startPos, uint8_t pushesBefore, uint8_t pushesAfter) {
  Setting s;
  s.capacity[0] = from;
  s.capacity[1] = to;
  s.startPos = startPos;
  s.pushes[0] = pushesBefore;
  s.pushes[1] = pushesAfter;
  s.pauseEndsInVisibleRebuild = true;
  s.budgets[1] = 0;
  s.firstWithoutPauses = thorough;
  return s;
}

// True if a number is wrong or flagged, or a gap was missed. Neither may happen under assumptions A and B without a
// foreign consumer.
bool isWrong(const Ending& e) {
  const int atOpening = e.allRebuilds > e.rebuilds ? 1 : 0;  // a rebuild during the opening may count as a restart
  const bool restartsHold = e.restarts <= uint32_t(e.rebuilds + atOpening) && e.restarts >= uint32_t(e.mustBeNoticed);
  return e.wrong != 0 || e.suspect || !restartsHold;
}

void checkExact(const char* name, const Setting& s) {
  const Report r = explore(s, isWrong);
  std::printf("%s\n", r.line(name).c_str());
  CHECK(!r.hung);
  CHECK(r.endings > 0);
  CHECK_WITH(r.schedule.empty(), std::string(name) + ": this schedule comes out wrong:\n" + r.schedule);
}

}  // namespace

TEST(countsEveryEventOnceWithoutRestart) {
  Setting s = setting("");
  s.rebuilds = 0;
  s.pushes[0] = 7;
  checkExact("capacity 4, 7 pushes", s);
  s.capacity[0] = 2;
  checkExact("capacity 2, 7 pushes", s);
}

TEST(losesOnlyWipedEventsOverRestartInPlace) {
  checkExact("4 -> 4, from 0", restartingTo(4, 4, 0, check::kSanitized ? 1 : 2, 1));
  Setting s = restartingTo(4, 4, 3, few(), 1);
  s.firstWithoutPauses = true;
  checkExact("4 -> 4, over the lap's end", s);
  s = restartingTo(2, 2, 0, few(), 1);
  s.budgets[1] = 1;
  checkExact("2 -> 2, any budget", s);
}

TEST(losesOnlyWipedEventsOverRestartWithAnotherCapacity) {
  checkExact("4 -> 2, from 0", restartingTo(4, 2, 0, few(), 1));
  checkExact("4 -> 2, over the lap's end", restartingTo(4, 2, 3, few(), 1));
  checkExact("2 -> 4", restartingTo(2, 4, 0, few(), 1));
}

TEST(losesOnlyWipedEventsOverRestartInAnotherVersion) {
  Setting s = restartingTo(4, 4, 0, few(), 1);
  s.version[0] = 3;
  checkExact("version 3 -> 4", s);
}

TEST(countsExactlyWithHeaderFieldsReadBackwards) {
  Setting s = restartingTo(4, 4, 2, 1, 1);
  s.inspectBackwards = true;
  checkExact("4 -> 4, looks copy backwards", s);
}

TEST(countsExactlyWithoutStoreOfVersion0) {
  Setting s = restartingTo(4, 4, 0, few(), 1);
  s.versionZeroElided = true;
  checkExact("4 -> 4, version=0 optimised away", s);
}

TEST(losesOnlyWipedEventsOverTwoRestarts) {
  if (!thorough) return;
  Setting s = restartingTo(2, 2, 0, 1, 1);
  s.pushes[2] = 1;
  s.rebuilds = 2;
  s.capacity[2] = 2;
  s.pauseEndsInVisibleRebuild = false;
  checkExact("2 -> 2 -> 2", s);
}

// ---- The explorer finds errors ----

// The consumer never notices that its mark or the version is gone. The explorer must find this schedule: the consumer
// reads slots at position 0, the agent rebuilds the ring, and the swap from 0 to n succeeds on the new ring.
TEST(findsWrongCountsWithoutTheMark) {
  Setting s = restartingTo(4, 4, 0, 1, 1);
  s.blind = true;
  const Report r = explore(s);
  std::printf("%s\n", r.line("4 -> 4, blind to the mark").c_str());
  CHECK(r.wrong > 0);
}

// ---- Outside the assumptions: every drain ends, and visible violations are flagged ----

TEST(endsEveryDrainUnderBrokenAssumption) {
  if (!thorough) return;
  // A rebuild that is held up between its first stores is invisible: 8689 endings are wrong, of these 1831 unflagged.
  Setting a = restartingTo(2, 2, 0, 1, 1);
  a.assumptionA = false;
  const Report withoutA = explore(a);
  std::printf("%s\n", withoutA.line("2 -> 2, a rebuild takes any time").c_str());
  CHECK(!withoutA.hung);
  CHECK(withoutA.wrongUnflagged < withoutA.wrong);
  // With a ring of the same capacity no ending is wrong: 4 of 693 are flagged.
  Setting b = restartingTo(4, 4, 0, 1, 1);
  b.assumptionB = false;
  const Report withoutB = explore(b);
  std::printf("%s\n", withoutB.line("4 -> 4, a new agent pushes at once").c_str());
  CHECK(!withoutB.hung);
  CHECK(withoutB.wrong == 0);
}

// The consumer notices each event that a foreign consumer pops after the consumer's first drain, except whole laps
// between two of its reads: then read_pos is back at its old value.
TEST(noticesForeignConsumerThatTakesLessThanALap) {
  Setting s = setting("");
  s.rebuilds = 0;
  s.foreignWaits = true;
  s.foreignPops = 3;
  s.pushes[0] = check::kSanitized ? 2 : thorough ? 4 : 3;
  const Report r = explore(s, [](const Ending& e) { return e.wrong != 0 && !e.suspect; });
  std::printf("%s\n", r.line("capacity 4, a foreign consumer pops up to 3").c_str());
  CHECK(!r.hung);
  CHECK(r.wrong > 0);  // popped events are missing in the numbers, which are therefore flagged
  CHECK_WITH(r.schedule.empty(), "a foreign consumer went unnoticed:\n" + r.schedule);
}

// The foreign consumer may store read_pos after the agent has rebuilt the ring.
TEST(noticesForeignConsumerOverRestart) {
  for (const uint8_t capacity : {2, 4}) {
    if (check::kSanitized && capacity > 2) continue;
    Setting s = restartingTo(capacity, capacity, 0, 1, 1);
    s.pauseEndsInVisibleRebuild = false;
    s.foreignPops = 1;
    s.foreignWaits = true;
    const Report r = explore(s, [](const Ending& e) { return e.wrong != 0 && !e.suspect; });
    std::printf("%s\n", r.line("a rebuild, and a foreign consumer pops 1").c_str());
    CHECK(!r.hung);
    CHECK(r.wrong > 0);
    CHECK_WITH(r.schedule.empty(), "a foreign consumer went unnoticed:\n" + r.schedule);
  }
}

// ---- A second producer, which keeps a position of its own ----

namespace {

Setting shared(uint8_t rebuilds, uint8_t startPos, bool checks) {
  Setting s = restartingTo(4, 4, startPos, 2, 1);
  s.rebuilds = rebuilds;
  s.secondPushes = thorough && rebuilds == 0 ? 3 : 2;
  s.firstWithoutPauses = false;
  s.checksPosition = checks;
  s.pauseEndsInVisibleRebuild = false;
  return s;
}

Report exploreShared(const char* name, const Setting& s, const IsWrong& wrong = nullptr) {
  const Report r = explore(s, wrong);
  std::printf("%-46s %9zu states %8zu endings: %zu count too many (%zu unflagged)\n", name, r.states, r.endings,
              r.tooMany, r.tooManyUnflagged);
  CHECK(!r.hung);
  CHECK(r.endings > 0);
  return r;
}

}  // namespace

// Such producers stop, or write at one position and overwrite each other's events. Only a push that is under way while
// the other one moves write_pos makes this jump, up to a lap each time.
TEST(countsTooManyOnlyForPushesUnderWayOfProducersThatCheck) {
  for (const uint8_t rebuilds : {0, 1}) {
    if (rebuilds > 0 && !thorough) continue;
    for (const uint8_t startPos : {0, 2}) {
      const Setting s = shared(rebuilds, startPos, true);
      const Report r = exploreShared("two producers that check", s, [](const Ending& e) {
        return !e.suspect && e.excess > e.underWay * (kMaxCapacity - 1);
      });
      CHECK_WITH(r.schedule.empty(), "too many without a push under way:\n" + r.schedule);
    }
  }
}

// Of those that do not check, the reader sees each position that goes back among events that it has seen and not
// taken. It cannot see the others, see docs/limits.md.
TEST(flagsProducersThatGoBackWithoutCheck) {
  const Report r = exploreShared("two producers that do not check", shared(0, 0, false));
  CHECK(r.tooMany > 0);
  CHECK(r.tooManyUnflagged < r.tooMany);
}

// ---- A consumer with state dies at any access, and the next one goes on from its record ----

namespace {

Setting mortal(Setting s, uint8_t deaths) {
  s.withState = true;
  s.deaths = deaths;
  return s;
}

// Events that others took are missing in the numbers, which are therefore flagged.
void checkFlagged(const char* name, const Setting& s) {
  const Report r = explore(s, [](const Ending& e) { return (e.wrong & kNoMark) != 0 || (e.wrong != 0 && !e.suspect); });
  std::printf("%s\n", r.line(name).c_str());
  CHECK(!r.hung);
  CHECK(r.wrong > 0);
  CHECK_WITH(r.schedule.empty(), std::string(name) + ": events are missing without a flag:\n" + r.schedule);
}

}  // namespace

TEST(countsEveryEventOnceOverDeaths) {
  Setting s = mortal(setting(""), 2);
  s.rebuilds = 0;
  s.pushes[0] = thorough ? 7 : 4;
  checkExact("2 deaths, capacity 4", s);
  s.startPos = 3;
  checkExact("2 deaths, capacity 4, over the lap's end", s);
}

TEST(losesOnlyWipedEventsOverDeathAndRestart) {
  checkExact("1 death, 2 -> 2", mortal(restartingTo(2, 2, 0, 1, 1), 1));
  if (!thorough) return;
  checkExact("1 death, 4 -> 4", mortal(restartingTo(4, 4, 0, 2, 1), 1));
  checkExact("1 death, 4 -> 4, over the lap's end", mortal(restartingTo(4, 4, 3, 2, 1), 1));
  checkExact("1 death, 2 -> 4", mortal(restartingTo(2, 4, 0, 1, 1), 1));
  checkExact("1 death, 4 -> 2", mortal(restartingTo(4, 2, 0, 2, 1), 1));
  Setting s = mortal(restartingTo(4, 4, 0, 2, 2), 1);
  s.budgets[1] = 1;
  s.pauseEndsInVisibleRebuild = false;
  checkExact("1 death, 4 -> 4, any budget", s);
}

TEST(losesOnlyWipedEventsOverTwoDeathsAndRestart) {
  Setting s = mortal(restartingTo(2, 2, 0, 1, 1), 2);
  s.pauseEndsInVisibleRebuild = thorough;
  checkExact("2 deaths, 2 -> 2", s);
  if (!thorough) return;
  s = mortal(restartingTo(4, 2, 0, 2, 1), 2);
  s.pauseEndsInVisibleRebuild = false;
  checkExact("2 deaths, 4 -> 2", s);
  s = mortal(restartingTo(4, 4, 0, 2, 1), 2);
  s.pauseEndsInVisibleRebuild = false;
  s.budgets[1] = 1;
  checkExact("2 deaths, 4 -> 4, any budget", s);
}

TEST(losesOnlyWipedEventsOverDeathAndTwoRestarts) {
  if (!thorough) return;
  Setting s = mortal(restartingTo(2, 2, 0, 1, 1), 1);
  s.pushes[2] = 1;
  s.rebuilds = 2;
  s.capacity[2] = 2;
  s.pauseEndsInVisibleRebuild = false;
  checkExact("1 death, 2 -> 2 -> 2", s);
}

// A consumer without state drains the ring while the one with state is dead.
TEST(noticesOtherConsumerAfterDeath) {
  Setting s = mortal(setting(""), 1);
  s.rebuilds = 0;
  s.pushes[0] = 3;
  s.otherConsumers = 1;
  for (const uint8_t startPos : {0, 2}) {
    s.startPos = startPos;
    checkFlagged("1 death, another consumer", s);
  }
  s = mortal(restartingTo(4, 2, 0, 1, 1), 1);
  s.pauseEndsInVisibleRebuild = false;
  s.otherConsumers = 1;
  checkFlagged("1 death, 4 -> 2, another consumer", s);
  if (!thorough) return;
  s = mortal(restartingTo(4, 4, 0, 1, 2), 1);
  s.pauseEndsInVisibleRebuild = false;
  s.otherConsumers = 1;
  checkFlagged("1 death, 4 -> 4, another consumer", s);
  s.deaths = 2;
  s.otherConsumers = 2;
  s.pushes[1] = 1;
  checkFlagged("2 deaths, 4 -> 4, two other consumers", s);
}

TEST(noticesForeignConsumerOverDeath) {
  Setting s = mortal(setting(""), 1);
  s.rebuilds = 0;
  s.foreignWaits = true;
  s.foreignPops = 2;
  s.pushes[0] = 3;
  checkFlagged("1 death, a foreign consumer pops up to 2", s);
  if (!thorough) return;
  s = mortal(restartingTo(4, 4, 0, 2, 1), 1);
  s.pauseEndsInVisibleRebuild = false;
  s.foreignWaits = true;
  s.foreignPops = 1;
  checkFlagged("1 death, 4 -> 4, a foreign consumer pops 1", s);
}

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  thorough = argc > 1 && std::string(argv[1]) == "--all";
  return check::run("protocol_explorer_test");
}
