"""Two real NIXL agents that move host memory between each other, for a test.

    python3 agents.py PROGRESS [ENDING]

Agent `prefill` writes to agent `decode`, which reads from it; ENDING is the end of both names. Lines of stdin are commands: `work N` makes N writes, and
a read for every three, `flood N` makes N writes without pauses, which the default ring does not hold, `fork` makes a
child that does nothing, `finish` deregisters the memory, `end` ends. The program answers each with one line of JSON: the
sums by series that it has asked of each agent. The file PROGRESS has the number of finished transfers, also after
SIGKILL.
"""

import ctypes
import json
import mmap
import os
import random
import struct
import sys
import time
import types

# Up to 1.3 the package imports torch, which it needs for tensors only.
sys.modules.setdefault("torch", types.SimpleNamespace(Tensor=type("Tensor", (), {})))

from nixl_cu12 import _api  # noqa: E402

SIZE = 1 << 16
PAUSE_S = 0.001  # an agent stages at most 4096 events between two flushes
ERROR_EVERY = 50


class Agent:
    """An agent with one registered region of host memory, and the sums that its telemetry must have."""

    def __init__(self, name):
        self.name = name
        self.sums = {}
        self._agent = _api.nixl_agent(name, _api.nixl_agent_config(backends=["UCX"]))
        self._memory = ctypes.create_string_buffer(SIZE)
        self._region = self._agent.register_memory([(ctypes.addressof(self._memory), SIZE, 0, "")], "DRAM")
        self._add("agent_memory_registered_total", SIZE)

    def meet(self, peer):
        self._agent.add_remote_agent(peer._agent.get_agent_metadata())

    def move(self, operation, peer, size):
        """Moves `size` bytes between the beginnings of both regions, and waits for their arrival."""
        ours, theirs = (side._agent.get_xfer_descs([(ctypes.addressof(side._memory), size, 0)], "DRAM")
                        for side in (self, peer))
        handle = self._agent.initialize_xfer(operation, ours, theirs, peer.name, b"")
        state = self._agent.transfer(handle)
        while state == "PROC":
            state = self._agent.check_xfer_state(handle)
        if state != "DONE":
            raise RuntimeError(f"{operation} of {size} bytes: {state}")
        self._agent.release_xfer_handle(handle)
        direction = "tx" if operation == "WRITE" else "rx"
        self._add(f"agent_{direction}_bytes_total", size)
        self._add(f"agent_{direction}_requests_num_total", 1)
        self._add("agent_xfer_time_us_count", 1)
        self._add("agent_xfer_post_time_us_count", 1)
        size_class = f"{direction} up to {max(1024, 1 << (size - 1).bit_length())}"
        self._add(f"{size_class}: transfers", 1)
        self._add(f"{size_class}: bytes", size)

    def flood(self, peer, count):
        """Makes many small writes as fast as the agent can."""
        size = 64
        ours, theirs = (side._agent.get_xfer_descs([(ctypes.addressof(side._memory), size, 0)], "DRAM")
                        for side in (self, peer))
        handle = self._agent.initialize_xfer("WRITE", ours, theirs, peer.name, b"")
        for _ in range(count):
            state = self._agent.transfer(handle)
            while state == "PROC":
                state = self._agent.check_xfer_state(handle)
            if state != "DONE":
                raise RuntimeError(f"WRITE of {size} bytes: {state}")
        self._agent.release_xfer_handle(handle)
        self._add("agent_tx_requests_num_total", count)

    def ask_nobody(self):
        """Asks for a transfer with an agent that does not exist."""
        descriptors = self._agent.get_xfer_descs([(ctypes.addressof(self._memory), 1, 0)], "DRAM")
        try:
            self._agent.initialize_xfer("WRITE", descriptors, descriptors, "nobody", b"")
        except Exception as error:  # its class differs by release
            if "NOT_FOUND" not in str(error):
                raise
            self._add("agent_errors_total not_found", 1)
        else:
            raise RuntimeError("a transfer with an unknown agent was accepted")

    def finish(self):
        self._agent.deregister_memory(self._region)
        self._add("agent_memory_deregistered_total", SIZE)

    def check_arrival(self, peer, size):
        if self._memory.raw[:size] != peer._memory.raw[:size]:
            raise RuntimeError("the memory of both agents differs after a transfer")

    def fill(self, byte):
        ctypes.memset(self._memory, byte, SIZE)

    def _add(self, series, value):
        self.sums[series] = self.sums.get(series, 0) + value


def fork_child():
    """Forks a child that inherits all mappings. It ends after this process, whose end closes the pipe."""
    end, alive = os.pipe()
    if os.fork() == 0:
        os.close(alive)
        os.read(end, 1)
        os._exit(0)
    os.close(end)


def main(progress_file, ending=""):
    with open(progress_file, "wb") as file:
        file.write(bytes(8))
    with open(progress_file, "r+b") as file:
        progress = mmap.mmap(file.fileno(), 8)
    prefill, decode = Agent("prefill" + ending), Agent("decode" + ending)
    prefill.meet(decode)
    decode.meet(prefill)
    chance = random.Random(1)
    done = 0

    def work(count):
        nonlocal done
        for _ in range(count):
            size = chance.randint(1, SIZE >> chance.randrange(7))
            prefill.fill(chance.randrange(256))
            prefill.move("WRITE", decode, size)
            prefill.check_arrival(decode, size)
            done += 1
            progress[:] = struct.pack("<Q", done)
            if done % 4 == 0:
                decode.move("READ", prefill, size)
                done += 1
                progress[:] = struct.pack("<Q", done)
            if done % ERROR_EVERY == 0:
                prefill.ask_nobody()
            time.sleep(PAUSE_S)

    answer = lambda: print(json.dumps({agent.name: agent.sums for agent in (prefill, decode)}), flush=True)
    answer()
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "end":
            break
        if command == "work":
            work(int(arguments[0]))
        elif command == "flood":
            prefill.flood(decode, int(arguments[0]))
        elif command == "fork":
            fork_child()
        elif command == "finish":
            for agent in (prefill, decode):
                agent.finish()
        else:
            raise ValueError(f"unknown command {command}; allowed: work N, flood N, fork, finish, end")
        answer()


main(*sys.argv[1:])
