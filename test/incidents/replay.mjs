// Replays a trace through rings, collector and serve in virtual time, and prints the incidents, one JSON object a line, with times in
// milliseconds since the first line of the trace.
//
//   node test/incidents/replay.mjs TRACE.jsonl
//
// Lines of the trace, in the order of t (milliseconds): {t, agent, event, value}, {t, agent, life: "ended"}, {t, mark}.
import { readFileSync } from 'node:fs';
import './typescript.mjs';

const { replay } = await import('./harness/replay.ts');

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node test/incidents/replay.mjs TRACE.jsonl');
  process.exit(2);
}
for (const incident of replay(linesIn(readFileSync(file, 'utf8')))) console.log(JSON.stringify(incident));

function* linesIn(text) {
  for (const line of text.split('\n')) if (line.trim() !== '') yield JSON.parse(line);
}
