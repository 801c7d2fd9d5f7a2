// Runs cases in processes of their own.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Sends `task` with the name of each case to one of `jobs` processes, and calls `take` with each answer, until it returns false. */
export async function runAll(cases, jobs, task, take) {
  const queue = cases.map(({ name }) => name);
  await Promise.all(Array.from({ length: Math.min(jobs, queue.length) }, () => work(queue, task, take)));
}

function work(queue, task, take) {
  const worker = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), {
    execArgv: ['--import', new URL('../typescript.mjs', import.meta.url).href],
  });
  return new Promise((resolve, reject) => {
    const next = () => {
      const name = queue.shift();
      if (name === undefined) worker.disconnect();
      else worker.send({ ...task, name });
    };
    worker.on('message', (answer) => {
      if (take(answer) === false) queue.length = 0;
      next();
    });
    worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))));
    next();
  });
}

export function print({ name }, spells, ms) {
  console.log(`${name}: ${Math.round(ms)} ms`);
  for (const { level, kind, agent, saidS, sinceS, endS, sentence } of spells) {
    console.log(`  ${level} ${kind} ${agent} said ${saidS} since ${sinceS} until ${endS ?? 'the end'}: ${sentence}`);
  }
}
