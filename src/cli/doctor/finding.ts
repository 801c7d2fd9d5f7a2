/** Findings of `nixl-otel doctor`: a row for each kind, with its reason and the command that mends it. Pure. */

export type Status = 'ok' | 'note' | 'problem';

export interface Finding {
  readonly status: Status;
  /** Kind of the finding: a key of FINDINGS, or the name of a check that found nothing. */
  readonly finding: string;
  /** Directory, process, address or setting that was examined. */
  readonly subject: string;
  readonly what: string;
  /** Absent if the status is `ok`. */
  readonly why?: string;
  /** Command that mends it; absent if the status is `ok`. */
  readonly mend?: string;
}

export interface FindingRow {
  readonly status: 'note' | 'problem';
  readonly why: string;
  /** Command. Names in capitals, such as DIR, stand for values of the finding. */
  readonly mend: string;
}

const RESTART = 'then start the process again';

/** In the order of the checks. docs/doctor.md has them as a table. */
export const FINDINGS = {
  'no-process': {
    status: 'problem',
    why: 'The process has ended, or is in a PID namespace that this process does not see.',
    mend: 'ps -e | grep -i python',
  },
  'process-hidden': {
    status: 'problem',
    why: 'Only its own user and root may read the variables and mappings of a process.',
    mend: 'sudo nixl-otel doctor --pid PID',
  },
  'processes-hidden': {
    status: 'note',
    why: 'Only its own user and root may read the variables and mappings of a process, so agents among these are not seen.',
    mend: 'sudo nixl-otel doctor --dir DIR',
  },
  'telemetry-off': {
    status: 'problem',
    why: 'An agent writes no telemetry unless NIXL_TELEMETRY_ENABLE is y when it is constructed, or its own configuration asks for telemetry.',
    mend: `export NIXL_TELEMETRY_ENABLE=y NIXL_TELEMETRY_DIR=DIR # ${RESTART}`,
  },
  'other-exporter': {
    status: 'problem',
    why: 'An agent that loads another exporter than BUFFER writes no ring.',
    mend: `unset NIXL_TELEMETRY_EXPORTER # ${RESTART}`,
  },
  'directory-unset': {
    status: 'problem',
    why: 'Without NIXL_TELEMETRY_DIR an agent has no place for its ring, and writes none.',
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
    why: 'The user of the agent may not create files in the directory, so the agent writes no ring.',
    mend: 'sudo chown UID DIR # then start the process again',
  },
  'small-buffer': {
    status: 'note',
    why: "A ring with fewer slots than NIXL's default of 4096 is full earlier, and a full ring drops events.",
    mend: `export NIXL_TELEMETRY_BUFFER_SIZE=4096 # ${RESTART}`,
  },
  'no-ring-of-process': {
    status: 'note',
    why: 'It has constructed no agent yet, or constructed it before the directory existed or before the variables were set.',
    mend: `ls -la DIR # if no file appears once the program uses NIXL, start the process again`,
  },
  'no-directory': {
    status: 'problem',
    why: 'Neither a flag nor a variable nor a configuration file nor a NIXL process names a directory of rings.',
    mend: 'nixl-otel doctor --dir /dev/shm/nixl',
  },
  'directory-missing': {
    status: 'problem',
    why: 'Agents do not create the directory, and write no ring without it.',
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
    why: 'On this file system the mapped memory of agent and reader may not be shared, so the reader refuses its rings.',
    mend: `export NIXL_TELEMETRY_DIR=/dev/shm/nixl # a tmpfs or a local disk; ${RESTART}`,
  },
  'open-directory': {
    status: 'note',
    why: "Any user may create rings in the directory, under any agent's name.",
    mend: 'chmod 0750 DIR',
  },
  'no-rings': {
    status: 'problem',
    why: 'No agent has written a ring: agents need NIXL_TELEMETRY_ENABLE=y, this directory in NIXL_TELEMETRY_DIR, and no other exporter.',
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
    mend: 'rm FILE # after a look at what it is; an agent that restarts makes its ring anew',
  },
  'ring-unreadable': {
    status: 'problem',
    why: 'The user of the reader may not read the file.',
    mend: "sudo -u '#UID' nixl-otel serve --dir DIR # the owner of the file",
  },
  'ring-not-writable': {
    status: 'problem',
    why: 'Draining moves a position in the file. Agents create rings with mode 0644, so only their own user and root may drain them.',
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
    status: 'note',
    why: 'A consumer drains the ring, and the ring was full when it was looked at: its agent may have dropped events.',
    mend: 'export NIXL_TELEMETRY_BUFFER_SIZE=65536 # then start the agent again',
  },
  undrained: {
    status: 'note',
    why: 'No consumer drains these rings, so nothing exports their events.',
    mend: 'nixl-otel serve --dir DIR',
  },
  'writer-gone': {
    status: 'note',
    why: 'The agent has ended. NIXL does not delete the files of ended agents.',
    mend: 'rm FILE',
  },
  'writer-unseen': {
    status: 'note',
    why: 'The agent has ended, or this process may not see it: it is in another PID namespace, or belongs to another user.',
    mend: 'docker run --pid=host IMAGE # in Kubernetes: shareProcessNamespace: true; of another user: sudo',
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
  'receiver-fails': {
    status: 'problem',
    why: 'serve would push its metrics there, and they would be lost.',
    mend: 'curl -i URL/v1/metrics # a receiver answers; --otlp-endpoint gives another address',
  },
  'no-answer': {
    status: 'problem',
    why: 'Nothing serves there, or a firewall or another network namespace lies between.',
    mend: 'nixl-otel serve --dir /dev/shm/nixl --host 0.0.0.0 # the default, 127.0.0.1, is for this host alone',
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
  'serve-without-agents': {
    status: 'problem',
    why: 'serve has found no ring that it can drain.',
    mend: 'nixl-otel doctor --dir DIR # on the host of serve',
  },
  'serve-reports': {
    status: 'note',
    why: 'serve cannot use these files, or waits for another consumer of them.',
    mend: 'nixl-otel doctor --dir DIR # on the host of serve',
  },
} as const satisfies Readonly<Record<string, FindingRow>>;

export type FindingName = keyof typeof FINDINGS;

interface Details {
  readonly subject: string;
  readonly what: string;
  /** Values for the names in capitals of the command. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Instead of the status of the row, if the check is not certain. */
  readonly status?: Status;
}

export function finding(name: FindingName, { subject, what, values = {}, status }: Details): Finding {
  const row: FindingRow = FINDINGS[name];
  const mend = row.mend.replaceAll(/\b[A-Z]+\b/g, (word) => {
    return Object.hasOwn(values, word) ? shellWord(values[word]!) : word;
  });
  return { status: status ?? row.status, finding: name, subject, what, why: row.why, mend };
}

/** A check that found nothing wrong. */
export function ok(name: string, subject: string, what: string): Finding {
  return { status: 'ok', finding: name, subject, what };
}

/** Quotes a text for a shell, if it needs quotes. */
function shellWord(value: string | number): string {
  const text = String(value);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const MAX_LISTED = 3;

/** Lists the first texts and counts the others: `a, b, c and 7 more`. */
export function listed(texts: readonly string[]): string {
  const rest = texts.length - MAX_LISTED;
  const first = texts.slice(0, MAX_LISTED).join(', ');
  return rest > 0 ? `${first} and ${rest} more` : first;
}
