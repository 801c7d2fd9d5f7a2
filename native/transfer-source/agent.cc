#include "agent.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "gpu_mover.h"
#include "print_line.h"
#include "ring_flusher.h"

namespace nixl_otel::transfer_source {

namespace {

uint64_t wallClockUs() {
  using std::chrono::duration_cast;
  return duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

uint64_t wholeUs(std::chrono::steady_clock::duration time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

void stageOne(StagingQueue& queue, uint32_t type, uint64_t value) {
  const StagedEvent event{wallClockUs(), value, type};
  queue.stage({&event, 1});
}

}  // namespace

Agent::Agent(const Options& options, uint32_t index, std::stop_token stop, AgentTotals& totals)
    : options_(options),
      index_(index),
      stop_(std::move(stop)),
      totals_(totals),
      ring_(options.unlocked ? WriterLock::kNone : WriterLock::kHeld) {
  std::seed_seq seed{static_cast<uint32_t>(options.seed), static_cast<uint32_t>(options.seed >> 32), index};
  random_.seed(seed);
  for (const SizeShare& share : options.sizes) totalWeight_ += share.weight;
}

void Agent::start() {
  thread_ = std::jthread([this] { run(); });
}

std::string Agent::waitReady() { return ready_.get_future().get(); }

std::string Agent::join() {
  thread_.join();
  return failure_;
}

void Agent::run() {
  totals_.pid = ::getpid();
  try {
    prepare();
  } catch (const std::exception& error) {
    ready_.set_value(options_.agentName(index_) + ": " + error.what());
    return;
  }
  ready_.set_value("");
  try {
    if (const auto runTime = options_.runTime()) runEnd_ = Clock::now() + *runTime;
    due_ = Clock::now();
    if (const auto fast = options_.pace.slowAfterSeconds) slowFrom_ = due_ + limitedSeconds(*fast);
    runIncarnation();
    while (!stop_.stop_requested() && Clock::now() < runEnd_ &&
           (options_.transfers == 0 || attempts_ < options_.transfers) &&
           (options_.restarts == 0 || totals_.restarts < options_.restarts)) {
      if (options_.waitForRoom && !waitUntilEmpty()) break;
      // Exact only if no consumer drains between this line and the rebuild of the header.
      totals_.wiped += ring_.pending();
      ring_.close();
      totals_.restarts++;
      createRing();
      runIncarnation();
    }
    totals_.complete = true;
  } catch (const std::exception& error) {
    failure_ = options_.agentName(index_) + ": " + error.what();
  }
  mover_.reset();  // here, because freeing GPU memory needs this thread's CUDA context
}

// Makes the mover and the first ring. Runs on the agent's thread, because a CUDA context is current per thread.
void Agent::prepare() {
  if (options_.gpu) {
    auto gpu = std::make_unique<GpuMover>(options_.largestTransfer());
    printLine(options_.agentName(index_) + " copies through GPU 0, " + gpu->deviceName());
    mover_ = std::move(gpu);
  } else {
    mover_ = std::make_unique<HostMover>(options_.largestTransfer(), options_.copyFree);
  }
  std::filesystem::create_directories(std::filesystem::path(options_.ringPath(index_)).parent_path());
  createRing();
}

void Agent::createRing() {
  const uint64_t restart = totals_.restarts;
  const std::vector<uint64_t>& sizes = options_.restartSizes;
  const uint64_t capacity = restart == 0 || sizes.empty() ? options_.bufferSize : sizes[(restart - 1) % sizes.size()];
  const std::string problem = ring_.create(options_.ringPath(index_), options_.wireVersion, capacity);
  if (!problem.empty()) throw std::runtime_error(problem);
}

// Runs one incarnation: from the agent's creation to its destruction. The buffers outlive it, because they belong to
// the application, which registers them with each new agent.
void Agent::runIncarnation() {
  StagingQueue queue(options_.stagingLimit());
  const std::stop_token roomWait = options_.waitForRoom ? stop_ : std::stop_token();
  RingFlusher flusher(ring_, queue, options_.flushInterval, totals_, roomWait);
  const bool restarts = options_.restartEvery.count() != 0;
  const Clock::time_point incarnationEnd = restarts ? Clock::now() + options_.restartEvery : Clock::time_point::max();
  stageOne(queue, kMemoryRegistered, mover_->registeredBytes());
  moveUntil(std::min(incarnationEnd, runEnd_), queue, flusher);
  stageOne(queue, kMemoryDeregistered, mover_->registeredBytes());
  flusher.stop(options_.finalFlush);
  const StagingQueue::Counts counts = queue.counts();
  totals_.staged += counts.staged;
  totals_.dropped += counts.dropped;
  totals_.unflushed += counts.remaining;
  if (flusher.isOvertaken()) throw std::runtime_error("another program writes " + options_.ringPath(index_));
}

void Agent::moveUntil(Clock::time_point end, StagingQueue& queue, const RingFlusher& flusher) {
  const bool paced = options_.rate > 0;
  const auto gap = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(paced ? std::min(1 / options_.rate, 1e8) : 0));
  while (options_.transfers == 0 || attempts_ < options_.transfers) {
    if (paced && !waitUntil(std::min(due_, end))) return;
    if (queue.unbounded()) queue.waitForRoom(stop_, end);
    const Clock::time_point now = Clock::now();
    if (stop_.stop_requested() || now >= end || flusher.isOvertaken()) return;
    // The schedule is absolute: after a slow transfer, later ones catch up. After a stall of more than a second
    // (SIGSTOP) the schedule begins anew.
    due_ = now - due_ > std::chrono::seconds(1) ? now : due_ + gap;
    attempts_++;
    if (options_.errorsPercent > 0 && chance(options_.errorsPercent)) {
      stageOne(queue, kFirstError + nextError_, 1);
      nextError_ = (nextError_ + 1) % kErrorTypes;
    } else {
      transfer(end, queue);
    }
  }
}

// A transfer that is not complete before the end of the incarnation is given up, as by a NIXL agent that is destroyed.
void Agent::transfer(Clock::time_point end, StagingQueue& queue) {
  const uint64_t bytes = pickSize();
  const bool read = chance(options_.readsPercent);
  // In wire versions 1 to 3 agents stage the time to post when they post the transfer, in later versions together with
  // the other events when the transfer is complete.
  const bool postApart = options_.wireVersion < 4;

  const Clock::time_point begin = Clock::now();
  const bool takesTime = options_.pace.takesTime();  // a flood calls no further clock
  const bool slow = begin >= slowFrom_;
  mover_->post(read ? Direction::kRead : Direction::kWrite, bytes);
  if (takesTime && !isComplete(begin + options_.pace.postTime(slow), end)) return;
  const uint64_t postUs = wholeUs(Clock::now() - begin);
  if (postApart) stageOne(queue, kXferPostTime, postUs);
  mover_->complete();
  if (takesTime && !isComplete(begin + options_.pace.transferTime(bytes, slow), end)) return;
  const uint64_t xferUs = wholeUs(Clock::now() - begin);

  const uint64_t stamp = wallClockUs();
  const StagedEvent group[] = {
      {stamp, postUs, kXferPostTime},
      {stamp, xferUs, kXferTime},
      {stamp, bytes, read ? kRxBytes : kTxBytes},
      {stamp, 1, read ? kRxRequests : kTxRequests},
  };
  queue.stage(std::span(group).subspan(postApart ? 1 : 0));
}

// Waits until `due`, when the transfer or its post is complete. Returns false if a stop or `end` comes before.
bool Agent::isComplete(Clock::time_point due, Clock::time_point end) {
  if (Clock::now() >= due) return true;
  const Clock::time_point last = std::min(due, end);
  if (!waitUntil(last - kWakeDelay)) return false;
  while (Clock::now() < last) {
  }
  return due <= end;
}

// Returns false if the program must stop.
bool Agent::waitUntil(Clock::time_point due) {
  if (due > Clock::now()) {
    std::unique_lock lock(mutex_);
    timer_.wait_until(lock, stop_, due, [] { return false; });
  }
  return !stop_.stop_requested();
}

// Returns false if the program must stop before the consumer has taken all events.
bool Agent::waitUntilEmpty() {
  while (ring_.pending() > 0) {
    if (!waitUntil(Clock::now() + kEmptyPoll)) return false;
  }
  return true;
}

bool Agent::chance(double percent) {
  // The 53 upper bits as a fraction of 1.
  return static_cast<double>(random_() >> 11) * 0x1p-53 * 100 < percent;
}

uint64_t Agent::pickSize() {
  uint64_t place = random_() % totalWeight_;
  for (const SizeShare& share : options_.sizes) {
    if (place < share.weight) return share.bytes;
    place -= share.weight;
  }
  return options_.sizes.back().bytes;
}

}  // namespace nixl_otel::transfer_source
