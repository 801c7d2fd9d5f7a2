// Blocks the event loop of its host for 3 s in some exports, like a garbage collection or synchronous work.
const EVERY = 10;
const BLOCK_MS = 3000;
const never = new Int32Array(new SharedArrayBuffer(4));
let exports = 0;
export default {
  export(_metrics, done) {
    if (++exports % EVERY === 0) Atomics.wait(never, 0, 0, BLOCK_MS);
    done({ code: 0 });
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};
