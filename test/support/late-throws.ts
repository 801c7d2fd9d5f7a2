/** Exporter modules that throw outside of all calls, at different moments and places. */

export const METHODS = 'export(m, done) { done({ code: 0 }) }, async forceFlush() {}, async shutdown() {}';

/** Name and source of each module. */
export const LATE_THROWS: readonly (readonly [string, string])[] = [
  ['a timer of the module', `setTimeout(() => { throw new Error('late') }, 20); export default { ${METHODS} };`],
  ['a promise of the module', `Promise.reject(new Error('late')); export default { ${METHODS} };`],
  [
    'a timer after an await of the module',
    `await null; setTimeout(() => { throw new Error('late') }, 20); export default { ${METHODS} };`,
  ],
  [
    'a tick of the constructor',
    `export default class { constructor() { process.nextTick(() => { throw new Error('late') }) }
       export(m, done) { done({ code: 0 }) } async forceFlush() {} async shutdown() {} };`,
  ],
  [
    'a microtask of the function',
    `export default () => { queueMicrotask(() => { throw new Error('late') }); return { ${METHODS} } };`,
  ],
  [
    'a promise of a getter',
    `export default { get export() { Promise.resolve().then(() => { throw new Error('late') }); return (m, done) => done({ code: 0 }) },
       async forceFlush() {}, async shutdown() {} };`,
  ],
  [
    'a timer of export()',
    `export default { export(m, done) { done({ code: 0 }); setTimeout(() => { throw new Error('late') }, 1) },
       async forceFlush() {}, async shutdown() {} };`,
  ],
  [
    'an emitter without a listener',
    `import { EventEmitter } from 'node:events';
     export default { export(m, done) { done({ code: 0 }); const e = new EventEmitter(); setImmediate(() => e.emit('error', new Error('late'))) },
       async forceFlush() {}, async shutdown() {} };`,
  ],
  [
    'a socket without a listener',
    `import { connect } from 'node:net';
     export default { export(m, done) { done({ code: 0 }); connect('/no/such/late') }, async forceFlush() {}, async shutdown() {} };`,
  ],
  [
    'null',
    `export default { export(m, done) { done({ code: 0 }); setTimeout(() => { throw null }) }, async forceFlush() {}, async shutdown() {} };`,
  ],
  [
    'something without a text',
    `export default { async export(m, done) { done({ code: 0 }); (async () => { throw Object.create(null) })() }, async forceFlush() {}, async shutdown() {} };`,
  ],
  [
    'process.exit()',
    `export default { export(m, done) { done({ code: 0 }); setTimeout(() => process.exit(7)) }, async forceFlush() {}, async shutdown() {} };`,
  ],
];
