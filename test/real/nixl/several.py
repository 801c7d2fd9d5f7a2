"""Several processes of agents.py, for a test.

    python3 several.py DIRECTORY NAME...

Starts one for each name, whose agents are `prefill-NAME` and `decode-NAME`. A line of stdin is a name and a command for its process,
or `kill`, which ends it by SIGKILL. Answers of all processes go to stdout, after `kill` an empty one. Ends with the last process.
"""

import os
import subprocess
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agents.py")

directory, *names = sys.argv[1:]
processes = {
    name: subprocess.Popen([sys.executable, PROGRAM, os.path.join(directory, name), f"-{name}"],
                           stdin=subprocess.PIPE, text=True)
    for name in names
}
for line in sys.stdin:
    name, command = line.split(maxsplit=1)
    if command.strip() == "kill":
        processes[name].kill()
        processes[name].wait()
        print("{}", flush=True)
    else:
        processes[name].stdin.write(command)
        processes[name].stdin.flush()
for process in processes.values():
    process.wait()
