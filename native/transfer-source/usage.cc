#include "options.h"

namespace nixl_otel::transfer_source {

const char* const kUsage = R"(Usage: transfer-source --dir DIR [flags]

Moves real memory at a set rate and writes telemetry rings as NIXL agents do. At the end prints one line of JSON on
stdout with the events that each agent wrote, dropped and lost. The first SIGINT or SIGTERM ends it early and cleanly,
a second one at once.

Agents
  --dir DIR             directory of the rings (NIXL_TELEMETRY_DIR); created if it does not exist
  --agents N            number of agents (default 1)
  --processes N         number of processes that run the agents (default 1: this process)
  --name PREFIX         agents are PREFIX-0, PREFIX-1, ... (default agent); a / in PREFIX makes a subfolder
  --exact-name          with --agents 1: the agent's name is PREFIX itself

Transfers
  --rate N              transfers per second and agent (default 100; 0: no pauses)
  --seconds S           duration (default 10, or no limit with --transfers or --restarts; 0: until a signal)
  --transfers N         each agent ends after N attempted transfers
  --sizes LIST          size:weight, ... (default 4k:60,64k:30,1M:10)
  --bandwidth LIST      bytes per second, as 20G; SIZE:RATE from a size on, as 20G,1M:1G (default: as fast as the memory)
  --base-us N           time beside the post and the bytes (default 0)
  --post-us N           time until a transfer is posted (default 0)
                        A transfer takes at least --post-us + --base-us + bytes / --bandwidth. Agents copy the bytes, and
                        wait for the rest of this time. Events have the times that passed, with delays of the machine
  --slow-after S        multiply this time by --slow-factor for transfers that begin later
  --slow-factor LIST    40, or a factor for each part of the time, as bandwidth:40,base:2,post:150
  --reads PERCENT       share of transfers that read (rx) (default 25)
  --errors PERCENT      share of attempts that fail: the agent copies nothing and writes one error event, of the twelve
                        error types in turn (default 0)
  --gpu                 copy host to GPU, GPU to host and within the GPU (libcuda.so.1, GPU 0); exit code 1 if there is
                        no GPU
  --copy-free           copy nothing, to flood a reader; without the times above they are about 0 us
  --seed N              determines the sequence of sizes and directions (default 1)

Telemetry
  --wire-version 1..5   layout of the ring (default 4)
  --buffer-size N       slots of a ring, a power of two from 2 to 16777216 (NIXL_TELEMETRY_BUFFER_SIZE; default 4096)
  --flush-interval MS   1 to 60000 (NIXL_TELEMETRY_RUN_INTERVAL; default 100)
  --staging N           capacity of the staging queue, in events; further events are dropped (default 4096, or unbounded
                        with wire version 1, as in NIXL; 0: unbounded). At 4194304 events an agent waits for the next
                        flush
  --no-final-flush      lose the staged events at the end, as NIXL does. Without this flag an agent flushes at its end,
                        but not before one interval (at most a second) after the creation of the ring
  --wait-for-room       wait for the consumer until a signal, where NIXL loses events: in a flush while the ring is
                        full, and before a restart until the ring is empty
  --unlocked            write the ring without a lock, also where another process writes it, as NIXL does. Without this
                        flag an agent ends with an error where it finds another writer

Restarts
  --restart-every MS    each agent restarts in the same file after this time (default 0: never)
  --restart-sizes LIST  --buffer-size after each restart, in turn
  --restarts N          each agent ends after N restarts, when the next one would be due

  --with-parent PID     end as on SIGTERM when the parent process PID ends
  --ready               print the line "ready" on stdout when all rings exist
  --help, --version
)";

}  // namespace nixl_otel::transfer_source
