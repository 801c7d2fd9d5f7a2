// The two capabilities that guard the collector's state. Both are globals, as there is one collector, so that every
// object of it names the same ones in its annotations.
//
// Invariants:
//   - Only the collector's thread changes the set of agents and their rings, and only with the lock held. So that
//   thread
//     reads them without the lock, and other threads with it.
//   - Locks are acquired in this order: Collector::lifecycle_, collectorMutex, one agent's mutex,
//   DeferredCalls::mutex_.
//   - collectorMutex is not held while a ring is drained, but is while directories are read.

#pragma once

#include <type_traits>

#include "fair_mutex.h"
#include "thread_annotations.h"

namespace nixl_otel {

inline constinit FairMutex collectorMutex;
static_assert(std::is_trivially_destructible_v<FairMutex>, "the collector's thread may still run at process exit");

// A role that one thread has. Nothing at run time.
class CAPABILITY("role") ThreadRole {
 public:
  void enter() ACQUIRE() {}
  void leave() RELEASE() {}
};

inline constinit ThreadRole collectorThread;

}  // namespace nixl_otel
