// The two capabilities that guard the collector's state. A process has one collector. Therefore both capabilities are
// globals, and the annotations of all its classes name them.
//
// Invariants:
//   - Only the collector's thread changes the set of agents, with collectorMutex held, and the rings of an agent, with
//     the agent's mutex held. Therefore this thread reads both without a lock, and other threads with that lock.
//   - Locks are acquired in this order:
//     Collector::lifecycle_, collectorMutex, one agent's mutex, DeferredCalls::mutex_.
//   - The collector's thread holds collectorMutex while it reads directories, but not while it drains a ring.

#pragma once

#include <type_traits>

#include "sync/fair_mutex.h"
#include "sync/thread_annotations.h"

namespace nixl_otel {

inline constinit FairMutex collectorMutex;
static_assert(std::is_trivially_destructible_v<FairMutex>, "the collector's thread may still run at process exit");

// A role of one thread, for annotations only: it does nothing at run time.
class CAPABILITY("role") ThreadRole {
 public:
  void enter() ACQUIRE() {}
  void leave() RELEASE() {}
};

inline constinit ThreadRole collectorThread;

}  // namespace nixl_otel
