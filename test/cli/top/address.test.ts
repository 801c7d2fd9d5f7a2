import { describe, expect, it } from 'vitest';
import { addressesIn } from '../../../src/cli/top/address.js';

describe('an address', () => {
  it.each([
    ['gpu-node-17:9464', 'http://gpu-node-17:9464/'],
    ['localhost:80', 'http://localhost/'],
    ['gpu-node-17', 'http://gpu-node-17:9464/'],
    ['gpu-node-17/gpu7', 'http://gpu-node-17:9464/gpu7'],
    ['10.0.0.7:8080/metrics?x=1', 'http://10.0.0.7:8080/metrics?x=1'],
    ['[::1]', 'http://[::1]:9464/'],
    ['[::1]:9000', 'http://[::1]:9000/'],
    ['user:secret@host:9464', 'http://user:secret@host:9464/'],
    ['http://host', 'http://host/'],
    ['HTTPS://host/gpu7', 'https://host/gpu7'],
  ])('%s is %s', (text, url) => {
    expect(addressesIn([text]).map(({ href }) => href)).toEqual([url]);
  });

  it.each(['', 'a b', 'ftp://host', 'http://', 'file:///etc/passwd'])('%j is refused', (text) => {
    expect(() => addressesIn([text])).toThrow('Allowed: host, host:port, or an address');
  });

  it('that is given twice counts once', () => {
    const urls = addressesIn(['a', 'b', 'http://a:9464/']);
    expect(urls.map(({ host }) => host)).toEqual(['a:9464', 'b:9464']);
  });
});
