/** Cases that the rules do not meet yet. */
export const NOT_YET: ReadonlySet<string> = new Set([]);
