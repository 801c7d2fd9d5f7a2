// Works, throws, rejects, fails and never calls back, in turn.
let exports = 0;
export default {
  export(_metrics, done) {
    switch (exports++ % 5) {
      case 0:
        return done({ code: 0 });
      case 1:
        throw new Error('thrown');
      case 2:
        return Promise.reject(new Error('rejected'));
      case 3:
        return done({ code: 1, error: new Error('failed') });
      default:
        return undefined;
    }
  },
  forceFlush: () => Promise.reject(new Error('no flush')),
  shutdown: () => Promise.reject(new Error('no shutdown')),
};
