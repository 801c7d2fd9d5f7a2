/** Globs of clients. Pure. */

/** Compares a name from its begin to its end, where * is any text and ? any character. Linear in time, whatever the glob. */
export function matchesGlob(name: string, glob: string): boolean {
  let [at, place, star, back] = [0, 0, -1, 0];
  while (at < name.length) {
    if (glob[place] === '*') [star, back, place] = [place, at, place + 1];
    else if (glob[place] === '?' || glob[place] === name[at]) [at, place] = [at + 1, place + 1];
    else if (star !== -1) [place, back, at] = [star + 1, back + 1, back + 1];
    else return false;
  }
  while (glob[place] === '*') place++;
  return place === glob.length;
}
