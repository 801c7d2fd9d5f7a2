"""Constructs a NIXL agent, and prints one line: `runs`, or the error.

    python3 construct.py
"""

import sys
import types

# Up to 1.3 the package imports torch, which it needs for tensors only.
sys.modules.setdefault("torch", types.SimpleNamespace(Tensor=type("Tensor", (), {})))

from nixl_cu12 import _api  # noqa: E402

try:
    agent = _api.nixl_agent("agent", _api.nixl_agent_config(backends=["UCX"]))
    print("runs")
except Exception as error:  # its class differs by setting
    print(f"{type(error).__name__}: {error}")
