/** A row for each kind of finding: its reason, and the command that mends it. docs/doctor.md has their names. */

import { AGENT_STOPS, stopSentence } from './agent-stops.js';

export interface FindingRow {
  readonly status: 'note' | 'problem';
  readonly why: string;
  /** Command. Names in capitals, such as DIR, stand for values of the finding. */
  readonly mend: string;
}

const RESTART = 'then start the process again';
const LOADED = 'grep -l libnixl /proc/[0-9]*/maps # processes that have loaded the library of NIXL';

/** In the order of the checks. */
export const FINDINGS = {
  'no-process': {
    status: 'problem',
    why: 'The process has ended, or is in a PID namespace that this process does not see.',
    mend: LOADED,
  },
  'no-library': {
    status: 'note',
    why: 'It is linked with NIXL in another way, or loads NIXL later, or uses no NIXL.',
    mend: LOADED,
  },
  'process-hidden': {
    status: 'problem',
    why: 'Only its own user and root may examine a process.',
    mend: 'sudo nixl-otel doctor --pid PID',
  },
  'processes-hidden': {
    status: 'note',
    why: 'Only its own user and root may examine a process, so agents among these are not seen.',
    mend: 'sudo nixl-otel doctor --dir DIR',
  },
  'nixl-config': {
    status: 'problem',
    why: `NIXL reads its settings there, too. ${stopSentence(AGENT_STOPS.configFile)} doctor follows no links there.`,
    mend: `cat FILE # TOML with variables as keys; NIXL_TELEMETRY_ENABLE = true; ${RESTART}`,
  },
  'wrong-enable': {
    status: 'problem',
    why: stopSentence(AGENT_STOPS.enable),
    mend: `export NIXL_TELEMETRY_ENABLE=y # ${RESTART}`,
  },
  'wrong-buffer-size': {
    status: 'problem',
    why: stopSentence(AGENT_STOPS.bufferSize),
    mend: `export NIXL_TELEMETRY_BUFFER_SIZE=4096 # a power of two; ${RESTART}`,
  },
  'no-buffer-size': {
    status: 'problem',
    why: `${stopSentence(AGENT_STOPS.number)} 0 has the words "${AGENT_STOPS.noBuffer.words}".`,
    mend: `export NIXL_TELEMETRY_BUFFER_SIZE=4096 # or unset it; ${RESTART}`,
  },
  'wrong-exporter': {
    status: 'problem',
    why: stopSentence(AGENT_STOPS.exporter),
    mend: `unset NIXL_TELEMETRY_EXPORTER # or BUFFER, in capitals; ${RESTART}`,
  },
  'telemetry-vetoed': {
    status: 'problem',
    why:
      'Off wins over a program that asks for telemetry, as vLLM does: no ring, and vLLM counts each good transfer as ' +
      "failed. Dynamo's vLLM workers then remove NIXL_TELEMETRY_DIR as well, which does not show here.",
    mend: `export NIXL_TELEMETRY_ENABLE=y NIXL_TELEMETRY_DIR=DIR # ${RESTART}`,
  },
  'telemetry-off': {
    status: 'problem',
    why:
      'An agent writes telemetry only if NIXL_TELEMETRY_ENABLE is y; since NIXL 1.4.0 also if it is unset, its program ' +
      'asks for telemetry, and NIXL_TELEMETRY_DIR is set.',
    mend: `export NIXL_TELEMETRY_ENABLE=y NIXL_TELEMETRY_DIR=DIR # ${RESTART}`,
  },
  'other-exporter': {
    status: 'problem',
    why: 'An agent that loads another exporter than BUFFER writes no ring.',
    mend: `unset NIXL_TELEMETRY_EXPORTER # ${RESTART}`,
  },
  'directory-unset': {
    status: 'problem',
    why: 'Without NIXL_TELEMETRY_DIR an agent has no place for its ring, and writes none. With the exporter BUFFER it raises since NIXL 1.4.0.',
    mend: `export NIXL_TELEMETRY_DIR=DIR # ${RESTART}`,
  },
  'directory-elsewhere': {
    status: 'problem',
    why: 'The agent writes its ring into its own directory, where the reader does not look.',
    mend: 'nixl-otel serve --dir DIR',
  },
  'other-mount': {
    status: 'problem',
    why: 'The process is in another mount namespace, as in a container, and has another directory at this path.',
    mend: 'docker run --volume DIR:DIR IMAGE # in Kubernetes: one volume, mounted in both containers',
  },
  'agent-may-not-write': {
    status: 'problem',
    why: `The user of the agent may not create files in the directory. ${stopSentence(AGENT_STOPS.directory)}`,
    mend: 'sudo chown UID DIR # then start the process again',
  },
  'small-buffer': {
    status: 'note',
    why: "A ring with fewer slots than NIXL's default of 4096 is full earlier, and a full ring drops events.",
    mend: `export NIXL_TELEMETRY_BUFFER_SIZE=4096 # ${RESTART}`,
  },
  'ring-deleted': {
    status: 'problem',
    why:
      'Only a process that has a deleted file open can read it. systemd deletes what a user has in /dev/shm when the user ' +
      'logs out (RemoveIPC), unless the user lingers or is a system user.',
    mend: `mkdir -p -m 0750 DIR # ${RESTART}; if a logout deleted it: loginctl enable-linger UID`,
  },
  'no-ring-of-process': {
    status: 'note',
    why:
      'It has made no agent yet, or made it before the directory existed, or its agent has ended. After minutes of ' +
      'transfers: perhaps a build without telemetry.',
    mend: `ls -la DIR # if no file appears once the program uses NIXL, start the process again`,
  },
  'no-directory': {
    status: 'problem',
    why: 'Neither a flag nor a variable nor a configuration file nor a NIXL process names a directory of rings.',
    mend: 'nixl-otel doctor --dir /dev/shm/nixl',
  },
  'directory-missing': {
    status: 'problem',
    why: `Agents do not create the directory. ${stopSentence(AGENT_STOPS.directory)}`,
    mend: "mkdir -m 0750 DIR # as the agents' user, then start the agents again",
  },
  'not-a-directory': {
    status: 'problem',
    why: 'A reader takes directories, and the path of a file is perhaps that of a ring.',
    mend: 'nixl-otel serve --dir PARENT',
  },
  'directory-unreadable': {
    status: 'problem',
    why: 'The user of the reader may not list the directory, or not enter it.',
    mend: "sudo -u '#UID' nixl-otel serve --dir DIR # the owner of the directory",
  },
  'network-file-system': {
    status: 'problem',
    why: 'Agent and reader may not share mapped memory on this file system, so the reader refuses its rings.',
    mend: `export NIXL_TELEMETRY_DIR=/dev/shm/nixl # a tmpfs or a local disk; ${RESTART}`,
  },
  'open-directory': {
    status: 'note',
    why: "Any user may create rings in the directory, under any agent's name.",
    mend: 'chmod 0750 DIR',
  },
  'open-volume': {
    status: 'note',
    why: 'As open-directory; this user may not change the mode, as that of a memory volume of Kubernetes.',
    mend: 'nixl-otel serve --dir DIR --owner UID # reads rings of these users alone',
  },
  'directory-nearly-full': {
    status: 'problem',
    why: 'The kernel ends an agent whose ring finds no space (SIGBUS), at its start or later.',
    mend: 'nixl-otel list --dir DIR # remove rings without PID, or enlarge the file system',
  },
  'no-rings': {
    status: 'problem',
    why: 'No agent writes here: agents need these variables, and NIXL_TELEMETRY_EXPORTER unset.',
    mend: 'export NIXL_TELEMETRY_ENABLE=y NIXL_TELEMETRY_DIR=DIR # then start the agents',
  },
  'unknown-wire-version': {
    status: 'problem',
    why: 'A newer NIXL than this package knows wrote the ring. The reader does not change the file.',
    mend: 'npm install opentelemetry-instrumentation-nixl@latest',
  },
  'not-a-ring': {
    status: 'problem',
    why: 'The file was truncated, or another program wrote it. The reader ignores it.',
    mend: 'file FILES # if it is of no agent, give the rings their own directory; else start its agent again',
  },
  'ring-unreadable': {
    status: 'problem',
    why: 'The user of the reader may not read the file.',
    mend: "sudo -u '#UID' nixl-otel serve --dir DIR # the owner of the file",
  },
  'ring-not-writable': {
    status: 'problem',
    why: 'Agents create rings with mode 0644, and draining writes: only their user and root may drain them.',
    mend: "sudo -u '#UID' nixl-otel serve --dir DIR # the agents' user",
  },
  'ring-starting': {
    status: 'note',
    why: 'An agent is starting, or ended during its start. The reader tries the file again.',
    mend: 'nixl-otel doctor --dir DIR # again, in a second',
  },
  'full-undrained': {
    status: 'problem',
    why: 'No consumer drains the ring, and its agent drops new events.',
    mend: 'nixl-otel serve --dir DIR',
  },
  'full-held': {
    status: 'problem',
    why: 'A consumer holds the lock of the ring and does not drain it: it is stopped, or has no turn on the CPU.',
    mend: 'kill -CONT PID # or end it: the next consumer takes the ring',
  },
  'full-at-times': {
    status: 'problem',
    why: 'A consumer drains the ring, but not soon enough: an agent drops the events that find its ring full.',
    mend: 'export NIXL_TELEMETRY_BUFFER_SIZE=SLOTS # then start the agent again',
  },
  undrained: {
    status: 'problem',
    why: 'No consumer drains these rings, so nothing exports their events.',
    mend: 'nixl-otel serve --dir DIR',
  },
  'ring-shared': {
    status: 'problem',
    why:
      'Agents of one name in one directory write one file, and overwrite events of each other: numbers are wrong. A reader ' +
      'that is not of this package also counts.',
    mend: `export NIXL_TELEMETRY_DIR=DIR/$RANK # a directory for each process or pod; ${RESTART}`,
  },
  'ring-passed-on': {
    status: 'note',
    why: 'The younger process has just started: it may follow the other one, which is ending.',
    mend: 'nixl-otel doctor --dir DIR # again, in ten seconds',
  },
  'writer-gone': {
    status: 'note',
    why: 'The agent has ended. NIXL does not delete the files of ended agents.',
    mend: 'rm FILES # once serve has drained it',
  },
  'writer-unseen': {
    status: 'note',
    why: 'The agent has ended, or is in another PID namespace, or belongs to another user.',
    mend: 'docker run --pid=host IMAGE # in Kubernetes: shareProcessNamespace: true; of another user: sudo',
  },
  'writer-hidden': {
    status: 'note',
    why: 'The agent has ended, or belongs to another user: this user sees its processes and may not examine them.',
    mend: "sudo nixl-otel doctor --dir DIR # or as the agents' user; in Kubernetes: with the capability SYS_PTRACE",
  },
  'wrong-setting': {
    status: 'problem',
    why: 'serve refuses this setting at its start.',
    mend: 'nixl-otel config print',
  },
  'port-taken': {
    status: 'problem',
    why: 'Another program listens there, so serve cannot.',
    mend: 'nixl-otel serve --dir DIR --port 0 # or any port that is free',
  },
  'socket-taken': {
    status: 'problem',
    why: 'Another program answers at the path, or its file belongs to another user, so serve cannot listen there.',
    mend: 'ls -l PATH # of the address unix:PATH; --listen gives another path',
  },
  'receiver-fails': {
    status: 'problem',
    why: 'serve would push its metrics there, and they would be lost.',
    mend: 'curl -i URL/v1/metrics # a receiver answers; --otlp-endpoint gives another address',
  },
  'no-answer': {
    status: 'problem',
    why: 'Nothing serves there, or a firewall or another network namespace lies between.',
    mend: 'nixl-otel serve --dir /dev/shm/nixl --listen ADDRESS # the default, 127.0.0.1:9464, is for this host alone',
  },
  'not-serve': {
    status: 'problem',
    why: 'Another program listens there, or a proxy that does not pass the path.',
    mend: 'curl -i URL',
  },
  'serve-not-ready': {
    status: 'problem',
    why: 'serve is stopping, or its collector thread has no turn, so its metrics keep their values.',
    mend: 'curl -i URL # again; then: systemctl restart nixl-otel',
  },
  'serve-refuses': {
    status: 'note',
    why: 'The web configuration of serve asks for credentials that doctor did not give.',
    mend: 'nixl-otel doctor --url URL --user NAME --password-file FILE # or --cert FILE --key FILE',
  },
  'serve-without-agents': {
    status: 'problem',
    why: 'serve has found no ring that it can drain.',
    mend: 'nixl-otel doctor --dir DIR # on the host of serve',
  },
  'serve-reports': {
    status: 'note',
    why: 'serve cannot use these files or waits for another consumer of them, the next serve cannot use them, or lives of agents cannot be seen.',
    mend: 'nixl-otel doctor --dir DIR # on the host of serve',
  },
  'serve-incomplete': {
    status: 'problem',
    why: 'The numbers of these agents are too low or may be wrong, by what serve saw in the last minute.',
    mend: 'nixl-otel top --url URL # the agents, and how much they lose',
  },
  'serve-exports-fail': {
    status: 'problem',
    why: 'What serve pushes does not arrive.',
    mend: 'nixl-otel doctor --dir DIR # on the host of serve, with its settings: checks the receiver',
  },
  'serve-finds': {
    status: 'note',
    why: 'serve counts all of it; its agents or its state need a look.',
    mend: 'nixl-otel top --url URL # the agents, and since when',
  },
} as const satisfies Readonly<Record<string, FindingRow>>;

export type FindingName = keyof typeof FINDINGS;
