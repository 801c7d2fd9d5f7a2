/** Cases that the rules do not meet yet. */
export const NOT_YET: ReadonlySet<string> = new Set([
  'new-slow-10',
  'new-slow-engine-10',
  'restart-slow-engine-10',
  'o-churn',
  'o-conc-burst32-1size',
]);
