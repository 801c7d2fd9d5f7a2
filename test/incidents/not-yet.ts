/** Cases that the rules do not meet yet, and why. */
export const NOT_YET: ReadonlyMap<string, string> = new Map([['field-6-two-modes', 'the fast tail stays: a note']]);
