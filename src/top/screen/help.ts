/** Keys of the screen, for key h and for --help: lines of at most 80 columns. */
export const KEYS: readonly string[] = [
  '  up, down, j, k, PgUp, PgDn, Home, End   move the cursor; the order then waits',
  '  Enter  open the agent; again: close     Esc  back; drop filters; drop cursor',
  '  /      filter: a part of the name, ? is any character; with * a glob',
  '  !      only agents with problems        P    problems first, or not',
  '  n      next finding of the second line  a    show old files as well',
  '  v      graphs of the top five agents    t    totals instead of rates',
  '  A T R Q 5 9 M O E L F I X  sort: agent, TX, RX, REQ, P50, P99, MAX, POST, ERR,',
  '         LOST, FILL, IDLE, TX+RX; again: reverse. s, S, left, right: neighbours',
  '  b      time by size; there m: against peers, against earlier, time, rate',
  '  r      reverse the order                + -  longer or shorter interval',
  '  d      doctor: why numbers are missing, of the agent under the cursor, or all',
  '  i      incidents of the last day        p, space  pause    q, Ctrl-C  quit',
  '  In an agent:  m  last minute, or all so far     c  copy as JSON',
  '  Mouse: headings sort, rows open, wheel moves, Shift selects text. m  off, on',
];

/** Help for key h: lines that fit the smallest usual screen. */
export const HELP: readonly string[] = [
  ...KEYS,
  '  TX/s RX/s   bytes that the agent wrote and read; its peers count nothing',
  '              ~: top was too slow for the ring, the numbers are too low',
  '  REQ/s ERR/s finished transfers, failed operations',
  '  P50 to MAX  transfer times since the previous sample; POST: p99 of post times',
  '  LOST        events lost, at least; +: a ring was full, there are probably more',
  '  FILL IDLE   highest recent share of the ring; time since the last event',
  '  Agents write rings with NIXL_TELEMETRY_ENABLE=y and NIXL_TELEMETRY_DIR=DIR.',
];
