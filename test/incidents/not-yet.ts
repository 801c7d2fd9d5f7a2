/** Cases that the rules do not meet yet, and why. */
export const NOT_YET: ReadonlyMap<string, string> = new Map([
  ['field-1-fast-transport-lost', 'posts of 0.7 % of the time are a second alarm'],
  ['field-3-one-rank-at-half', 'a factor of 2 within 90 s of the first transfers: young blocks teach it'],
  ['field-5-storage', 'posts and transfers are two alarms'],
  ['field-6-two-modes', 'the fast tail stays: a note'],
]);
