/** Names of pods and containers from the kubelet's links, as a real kubelet made them: also with names that it cut. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namesOfContainer } from '../../src/shm-bridge/container-links.js';
import { temporaryDirectory } from '../support/live.js';

const ID = '0f99ad5f45163ed14ab8eaf92ed34bb4a631d007f8755a7d79be614bcb0df0ef';
const OTHER_ID = 'c12c805d6314549dc42365c22d74814e277b971b835bffb1db79772d2abefcb0';
const UID = 'ff49d0be-16b7-4a49-bb9e-8ec1f1f4e27f';

interface Container {
  readonly pod: string;
  readonly container: string;
  readonly id?: string;
  readonly uid?: string;
}

/** Makes the links as the kubelet does: with a name of at most 255 bytes, and a target that need not exist here. */
function links(containers: readonly Container[]): string {
  const directory = join(temporaryDirectory(), 'containers');
  mkdirSync(directory);
  for (const { pod, container, id = ID, uid = UID } of containers) {
    const name = `${`${pod}_ml_${container}-${id}`.slice(0, 251)}.log`;
    try {
      symlinkSync(`/var/log/pods/ml_${pod}_${uid}/${container}/0.log`, join(directory, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // two containers can share a cut name
    }
  }
  return directory;
}

const names = (containers: readonly Container[], facts = { containerId: ID, podUid: UID }) =>
  namesOfContainer(facts, links(containers));

describe('the names of a container', () => {
  const engine = { pod: 'decode-0.x', container: 'engine' };
  const init = { pod: 'decode-0.x', container: 'init', id: OTHER_ID };

  it('are those of the link with its ID, beside others of the pod', () => {
    expect(names([init, engine])).toEqual({ namespace: 'ml', pod: 'decode-0.x', container: 'engine' });
  });

  it('are known of a static pod, whose UID is no UUID', () => {
    const uid = '8c5c3a7f2b1de04696f8a1e7d3c4b5a6';
    const found = names([{ ...engine, uid }], { containerId: ID, podUid: undefined as never });
    expect(found).toEqual({ namespace: 'ml', pod: 'decode-0.x', container: 'engine' });
  });

  it('are whole where the name of the link is cut within the ID', () => {
    const long = { pod: 'p'.repeat(200), container: 'engine' };
    const other = { pod: 'p'.repeat(200), container: 'helper', id: OTHER_ID };
    expect(names([other, long])).toEqual({ namespace: 'ml', pod: long.pod, container: 'engine' });
  });

  it('lack the container where two containers share a link', () => {
    const [a, b] = ['a', 'b'].map((last) => ({ pod: 'p'.repeat(220), container: `${'c'.repeat(62)}${last}` }));
    expect(names([a!, { ...b!, id: OTHER_ID }])).toEqual({ namespace: 'ml', pod: 'p'.repeat(220) });
  });

  it('are unknown before the kubelet made the link, and outside of Kubernetes', () => {
    expect(names([init])).toBeUndefined();
    expect(namesOfContainer({ containerId: ID }, join(temporaryDirectory(), 'none'))).toBeUndefined();
    expect(namesOfContainer({}, links([engine]))).toBeUndefined();
  });
});
