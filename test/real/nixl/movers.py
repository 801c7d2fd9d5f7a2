"""A real NIXL agent that moves host memory to another one, or the other one, for a test of ways.

    python3 movers.py receive NAME        prints its metadata as one line, and waits
    python3 movers.py write NAME MEBIBYTES    reads that line, writes to the other agent until stdin ends

The writer rests between its transfers for times of which no two are alike, and prints a line after its first transfer.
"""

import base64
import ctypes
import random
import select
import sys
import time
import types

# Up to 1.3 the package imports torch, which it needs for tensors only.
sys.modules.setdefault("torch", types.SimpleNamespace(Tensor=type("Tensor", (), {})))

from nixl_cu12 import _api  # noqa: E402

MIB = 1 << 20
MOST = 8 * MIB

role, name = sys.argv[1], sys.argv[2]
agent = _api.nixl_agent(name, _api.nixl_agent_config(backends=["UCX"]))
memory = ctypes.create_string_buffer(MOST)
region = agent.register_memory([(ctypes.addressof(memory), MOST, 0, "")], "DRAM")

if role == "receive":
    print(base64.b64encode(agent.get_agent_metadata()).decode(), ctypes.addressof(memory), flush=True)
    while not select.select([sys.stdin], [], [], 0.001)[0]:
        agent.get_new_notifs()  # gives UCX a turn
    sys.exit()

size = int(sys.argv[3]) * MIB
metadata, address = sys.stdin.readline().split()
peer = agent.add_remote_agent(base64.b64decode(metadata))
peer = peer.decode() if isinstance(peer, bytes) else peer
ours = agent.get_xfer_descs([(ctypes.addressof(memory), size, 0)], "DRAM")
theirs = agent.get_xfer_descs([(int(address), size, 0)], "DRAM")
handle = agent.initialize_xfer("WRITE", ours, theirs, peer, b"")
isFirst = True
while not select.select([sys.stdin], [], [], 0)[0]:
    pace = random.uniform(0.01, 0.1)
    end = time.monotonic() + random.uniform(2, 8)
    while time.monotonic() < end and not select.select([sys.stdin], [], [], pace)[0]:
        state = agent.transfer(handle)
        while state == "PROC":
            state = agent.check_xfer_state(handle)
        if state != "DONE":
            raise RuntimeError(f"WRITE of {size} bytes: {state}")
        if isFirst:
            print("moved", flush=True)
            isFirst = False
