/** A row for each kind of finding: its reason, and the command that mends it. docs/doctor.md has their names. */

import { AGENT_STOPS, stopSentence } from './agent-stops.js';

export interface FindingRow {
  readonly status: 'note' | 'problem';
  readonly why: string;
  readonly mend: string;
}

const RESTART = 'then start the process again';
const LOADED = 'grep -l libnixl /proc/[0-9]*/maps # processes that have loaded the library of NIXL';

/** `mend`: command. Names in capitals, such as DIR, stand for values of the finding. */
const row =
  (status: FindingRow['status']) =>
  (why: string, mend: string): FindingRow => ({ status, why, mend });
const problem = row('problem');
const note = row('note');

/** In the order of the checks. */
export const FINDINGS = {
  'no-process': problem('The process has ended, or is in a PID namespace that this process does not see.', LOADED),
  'no-library': note('It is linked with NIXL in another way, or loads NIXL later, or uses no NIXL.', LOADED),
  'process-hidden': problem('Only its own user and root may examine a process.', 'sudo nixl-otel doctor --pid PID'),
  'processes-hidden': note(
    'Only its own user and root may examine a process, so agents among these are not seen.',
    'sudo nixl-otel doctor --dir DIR',
  ),
  'nixl-config': problem(
    `NIXL reads its settings there, too. ${stopSentence(AGENT_STOPS.configFile)} doctor follows no links there.`,
    `cat FILE # TOML with variables as keys; NIXL_TELEMETRY_ENABLE = true; ${RESTART}`,
  ),
  'wrong-enable': problem(stopSentence(AGENT_STOPS.enable), `export NIXL_TELEMETRY_ENABLE=y # ${RESTART}`),
  'wrong-buffer-size': problem(
    stopSentence(AGENT_STOPS.bufferSize),
    `export NIXL_TELEMETRY_BUFFER_SIZE=4096 # a power of two; ${RESTART}`,
  ),
  'no-buffer-size': problem(
    `${stopSentence(AGENT_STOPS.number)} 0 has the words "${AGENT_STOPS.noBuffer.words}".`,
    `export NIXL_TELEMETRY_BUFFER_SIZE=4096 # or unset it; ${RESTART}`,
  ),
  'wrong-exporter': problem(
    stopSentence(AGENT_STOPS.exporter),
    `unset NIXL_TELEMETRY_EXPORTER # or BUFFER, in capitals; ${RESTART}`,
  ),
  'telemetry-vetoed': problem(
    'Off wins over a program that asks for telemetry, as vLLM does: no ring, and vLLM counts each good transfer as ' +
      "failed. Dynamo's vLLM workers then remove NIXL_TELEMETRY_DIR as well, which does not show here.",
    `export NIXL_TELEMETRY_ENABLE=y NIXL_TELEMETRY_DIR=DIR # ${RESTART}`,
  ),
  'telemetry-off': problem(
    'An agent writes telemetry only if NIXL_TELEMETRY_ENABLE is y; since NIXL 1.4.0 also if it is unset, its program ' +
      'asks for telemetry, and NIXL_TELEMETRY_DIR is set.',
    `export NIXL_TELEMETRY_ENABLE=y NIXL_TELEMETRY_DIR=DIR # ${RESTART}`,
  ),
  'other-exporter': problem(
    'An agent that loads another exporter than BUFFER writes no ring.',
    `unset NIXL_TELEMETRY_EXPORTER # ${RESTART}`,
  ),
  'directory-unset': problem(
    'Without NIXL_TELEMETRY_DIR an agent has no place for its ring, and writes none. With the exporter BUFFER it raises since NIXL 1.4.0.',
    `export NIXL_TELEMETRY_DIR=DIR # ${RESTART}`,
  ),
  'directory-elsewhere': problem(
    'The agent writes its ring into its own directory, where the reader does not look.',
    'nixl-otel serve --dir DIR',
  ),
  'other-mount': problem(
    'The process is in another mount namespace, as in a container, and has another directory at this path.',
    'docker run --volume DIR:DIR IMAGE # in Kubernetes: one volume, mounted in both containers',
  ),
  'agent-may-not-write': problem(
    `The user of the agent may not create files in the directory. ${stopSentence(AGENT_STOPS.directory)}`,
    'sudo chown UID DIR # then start the process again',
  ),
  'small-buffer': note(
    "A ring with fewer slots than NIXL's default of 4096 is full earlier, and a full ring drops events.",
    `export NIXL_TELEMETRY_BUFFER_SIZE=4096 # ${RESTART}`,
  ),
  'ring-deleted': problem(
    'Only a process that has a deleted file open can read it. systemd deletes what a user has in /dev/shm when the user ' +
      'logs out (RemoveIPC), unless the user lingers or is a system user.',
    `mkdir -p -m 0750 DIR # ${RESTART}; if a logout deleted it: loginctl enable-linger UID`,
  ),
  'no-ring-of-process': note(
    'It has made no agent yet, or made it before the directory existed, or its agent has ended. After minutes of ' +
      'transfers: perhaps a build without telemetry.',
    `ls -la DIR # if no file appears once the program uses NIXL, start the process again`,
  ),
  'no-directory': problem(
    'Neither a flag nor a variable nor a configuration file nor a NIXL process names a directory of rings.',
    'nixl-otel doctor --dir /dev/shm/nixl',
  ),
  'directory-missing': problem(
    `Agents do not create the directory. ${stopSentence(AGENT_STOPS.directory)}`,
    "mkdir -m 0750 DIR # as the agents' user, then start the agents again",
  ),
  'not-a-directory': problem(
    'A reader takes directories, and the path of a file is perhaps that of a ring.',
    'nixl-otel serve --dir PARENT',
  ),
  'directory-unreadable': problem(
    'The user of the reader may not list the directory, or not enter it.',
    "sudo -u '#UID' nixl-otel serve --dir DIR # the owner of the directory",
  ),
  'network-file-system': problem(
    'Agent and reader may not share mapped memory on this file system, so the reader refuses its rings.',
    `export NIXL_TELEMETRY_DIR=/dev/shm/nixl # a tmpfs or a local disk; ${RESTART}`,
  ),
  'open-directory': note("Any user may create rings in the directory, under any agent's name.", 'chmod 0750 DIR'),
  'open-volume': note(
    'As open-directory; this user may not change the mode, as that of a memory volume of Kubernetes.',
    'nixl-otel serve --dir DIR --owner UID # reads rings of these users alone',
  ),
  'directory-nearly-full': problem(
    'The kernel ends an agent whose ring finds no space (SIGBUS), at its start or later.',
    'nixl-otel list --dir DIR # remove rings without PID, or enlarge the file system',
  ),
  'no-rings': problem(
    'No agent writes here: agents need these variables, and NIXL_TELEMETRY_EXPORTER unset.',
    'export NIXL_TELEMETRY_ENABLE=y NIXL_TELEMETRY_DIR=DIR # then start the agents',
  ),
  'rings-to-come': note(
    'An engine makes its agents once it has loaded its model, minutes after its start.',
    'nixl-otel doctor --dir DIR # again, once the engine answers requests',
  ),
  'unknown-wire-version': problem(
    'A newer NIXL than this package knows wrote the ring. The reader does not change the file.',
    'npm install opentelemetry-instrumentation-nixl@latest',
  ),
  'not-a-ring': problem(
    'The file was truncated, or another program wrote it. The reader ignores it.',
    'file FILES # if it is of no agent, give the rings their own directory; else start its agent again',
  ),
  'ring-unreadable': problem(
    'The user of the reader may not read the file.',
    "sudo -u '#UID' nixl-otel serve --dir DIR # the owner of the file",
  ),
  'ring-not-writable': problem(
    'Agents create rings with mode 0644, and draining writes: only their user and root may drain them.',
    "sudo -u '#UID' nixl-otel serve --dir DIR # the agents' user",
  ),
  'ring-starting': note(
    'An agent is starting, or ended during its start. The reader tries the file again.',
    'nixl-otel doctor --dir DIR # again, in a second',
  ),
  'full-undrained': problem(
    'No consumer drains the ring, and its agent drops new events.',
    'nixl-otel serve --dir DIR',
  ),
  'full-held': problem(
    'A consumer holds the lock of the ring and does not drain it: it is stopped, or has no turn on the CPU.',
    'kill -CONT PID # or end it: the next consumer takes the ring',
  ),
  'full-at-times': problem(
    'A consumer drains the ring, but not soon enough: an agent drops the events that find its ring full.',
    'export NIXL_TELEMETRY_BUFFER_SIZE=SLOTS # then start the agent again',
  ),
  undrained: problem('No consumer drains these rings, so nothing exports their events.', 'nixl-otel serve --dir DIR'),
  'ring-shared': problem(
    'Agents of one name in one directory write one file, and overwrite events of each other: numbers are wrong. A reader ' +
      'that is not of this package also counts.',
    `export NIXL_TELEMETRY_DIR=DIR/$RANK # a directory for each process or pod; ${RESTART}`,
  ),
  'ring-passed-on': note(
    'The younger process has just started: it may follow the other one, which is ending.',
    'nixl-otel doctor --dir DIR # again, in ten seconds',
  ),
  'writer-gone': note(
    'The agent has ended. NIXL does not delete the files of ended agents.',
    'rm FILES # once serve has drained it',
  ),
  'writer-unseen': note(
    'The agent has ended, or is in another PID namespace, or belongs to another user.',
    'docker run --pid=host IMAGE # in Kubernetes: shareProcessNamespace: true; of another user: sudo',
  ),
  'writer-hidden': note(
    'The agent has ended, or belongs to another user: this user sees its processes and may not examine them.',
    "sudo nixl-otel doctor --dir DIR # or as the agents' user; in Kubernetes: with the capability SYS_PTRACE",
  ),
  'wrong-setting': problem('serve refuses this setting at its start.', 'nixl-otel config print'),
  'port-taken': problem(
    'Another program listens there, so serve cannot.',
    'nixl-otel serve --dir DIR --port 0 # or any port that is free',
  ),
  'socket-taken': problem(
    'Another program answers at the path, or its file belongs to another user, so serve cannot listen there.',
    'ls -l PATH # of the address unix:PATH; --listen gives another path',
  ),
  'receiver-fails': problem(
    'serve would push its metrics there, and they would be lost.',
    'curl -i URL/v1/metrics # a receiver answers; --otlp-endpoint gives another address',
  ),
  'no-answer': problem(
    'Nothing serves there, or a firewall or another network namespace lies between.',
    'nixl-otel serve --dir /dev/shm/nixl --listen ADDRESS # the default, 127.0.0.1:9464, is for this host alone',
  ),
  'not-serve': problem('Another program listens there, or a proxy that does not pass the path.', 'curl -i URL'),
  'serve-not-ready': problem(
    'serve is stopping, or its collector thread has no turn, so its metrics keep their values.',
    'curl -i URL # again; then: systemctl restart nixl-otel',
  ),
  'serve-refuses': note(
    'The web configuration of serve asks for credentials that doctor did not give.',
    'nixl-otel doctor --url URL --user NAME --password-file FILE # or --cert FILE --key FILE',
  ),
  'serve-without-agents': problem(
    'serve has found no ring that it can drain.',
    'nixl-otel doctor --dir DIR # on the host of serve',
  ),
  'serve-reports': note(
    'serve cannot use these files or waits for another consumer of them, the next serve cannot use them, or lives of agents cannot be seen.',
    'nixl-otel doctor --dir DIR # on the host of serve',
  ),
  'serve-incomplete': problem(
    'The numbers of these agents are too low or may be wrong, by what serve saw in the last minute.',
    'nixl-otel top --url URL # the agents, and how much they lose',
  ),
  'serve-exports-fail': problem(
    'What serve pushes does not arrive.',
    'nixl-otel doctor --dir DIR # on the host of serve, with its settings: checks the receiver',
  ),
  'serve-finds': note(
    'serve counts all of it; its agents or its state need a look.',
    'nixl-otel top --url URL # the agents, and since when',
  ),
  'engine-no-page': problem(
    'Nothing answers there, another program does, or an engine that is not in the table of engines.',
    'curl -s URL # the address at which the engine answers requests',
  ),
  'engine-uncounted': problem(
    'None of these series is known to count the transfers of NIXL, so nothing can be compared.',
    'curl -s URL | grep -i nixl',
  ),
  'engine-unseen': problem(
    'The agents of the instance write into another directory or on another host, write no ring, have ended, or have processes that are not visible.',
    'nixl-otel list # on the host of serve: the names have the instance of each agent',
  ),
  'engine-differs': problem(
    'The engine and the rings count the same transfers, each for itself.',
    'nixl-otel doctor --engine ENGINE # again, after a request; then the docs: vllm.md, loss.md',
  ),
  'engine-behind': note(
    'The rings have transfers that the engine does not count yet, or does not count at all: nothing is lost.',
    'nixl-otel doctor --engine ENGINE # again, after a request',
  ),
  'engine-restarted': note(
    'The engine or an agent of it began anew while doctor compared both, so their sums have no common begin.',
    'nixl-otel doctor --engine ENGINE # again',
  ),
  'engine-failures': note(
    'NIXL reports no end of a peer, no failed handshake and no failed notification: no ring has them.',
    'curl -s URL | grep nixl_num # and the log of the engine',
  ),
} as const satisfies Readonly<Record<string, FindingRow>>;

export type FindingName = keyof typeof FINDINGS;
