import { describe, expect, it } from 'vitest';
import { isReadableOnNetwork } from '../../src/view/client/client-options.js';
import { addressesIn } from '../../src/cli/url-option.js';

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
    expect(addressesIn([text]).map((one) => one.url.href)).toEqual([url]);
  });

  it.each(['', 'a b', 'ftp://host', 'http://', 'file:///etc/passwd', 'unix:a'])('%j is refused', (text) => {
    expect(() => addressesIn([text])).toThrow('Allowed: host, host:port, unix:/path, or an address');
  });

  it.each([
    ['http://127.1:80', false],
    ['http://127.8.9.1', false],
    ['localhost', false],
    ['a.localhost', false],
    ['[::1]', false],
    ['[::ffff:127.0.0.1]', false],
    ['unix:/run/a', false],
    ['https://gpu-7', false],
    ['gpu-7', true],
    ['localhost.example.com', true],
    ['127.0.0.1.example.com', true],
    ['[::2]', true],
    ['[::ffff:10.0.0.7]', true],
    ['10.127.0.0', true],
  ])('%s: the network can read what is sent: %s', (text, isReadable) => {
    expect(addressesIn([text]).map(isReadableOnNetwork)).toEqual([isReadable]);
  });

  it('that is given twice counts once', () => {
    const all = addressesIn(['a', 'b', 'http://a:9464/', 'unix:/run/a', 'unix:/run/b', 'unix:/run/a']);
    expect(all.map(({ name }) => name)).toEqual(['a:9464', 'b:9464', 'unix:/run/a', 'unix:/run/b']);
  });
});
