import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractorOf } from '../../../../../runtime/documents/extractors/index.js';

const links = (text: string, options = {}) => extractorOf('LinkExtractor').extract(text, options);
interface Paths {
  readonly file_paths: readonly { path: string; name: string; directory: string; extension: string; type: string }[];
  readonly s3_paths: unknown;
  readonly urls: unknown;
}
const paths = (text: string, options = {}): Paths => extractorOf('PathExtractor').extract(text, options).output.path as Paths;

describe('links', () => {
  it('gives addresses and hosts once each', () => {
    const text = 'https://user@A.org:8080/x, www.b.org, https://user@A.org:8080/x and me@C.org';
    assert.deepEqual(links(text), {
      output: {
        links: {
          urls: ['https://user@A.org:8080/x', 'www.b.org'],
          emails: ['me@C.org'],
          domains: ['a.org', 'www.b.org', 'c.org'],
          link_count: 3,
        },
      },
      flat: { links: ['https://user@A.org:8080/x', 'www.b.org'] },
    });
  });

  it('leaves out what no public host can have', () => {
    const text = 'http://localhost/ http://a.b:99999/ http://1.2.3.4/ http://x.123/ https://ok.org';
    assert.deepEqual(links(text, { validate_urls: true }).flat.links, ['http://1.2.3.4/', 'https://ok.org']);
  });

  it('follows redirects that the address spells out', () => {
    const inner = encodeURIComponent('https://t.org/?u=https://deep.org/a');
    assert.deepEqual(links(`https://www.search.org/url?q=${inner}`, { resolve_redirects: true }).flat.links, ['https://deep.org/a']);
    assert.deepEqual(links('https://x.org/?q=cats', { resolve_redirects: true }).flat.links, ['https://x.org/?q=cats']);
  });
});

describe('paths', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['see /usr/lib/../bin//node, ~/x.', ['unix /usr/bin/node', 'unix ~/x']],
    ['C:\\Users\\bob\\..\\a.txt \\\\srv\\share\\f.doc', ['windows C:\\Users\\a.txt', 'unc \\\\srv\\share\\f.doc']],
    ['./x/y.js ../z src/main.ts', ['relative x/y.js', 'relative ../z', 'relative src/main.ts']],
    ['and/or 3/4/2024 // https://a.b/c.txt s3://b/c / a', []],
  ];
  for (const [text, expected] of cases) {
    it(text, () =>
      assert.deepEqual(
        paths(text).file_paths.map((one) => `${one.type} ${one.path}`),
        expected,
      ),
    );
  }

  it('takes paths apart and describes the first beside the chunk', () => {
    const { flat } = extractorOf('PathExtractor').extract('open /srv/data/Report.PDF and /etc/hosts', {});
    assert.deepEqual(flat, { file_path: '/srv/data/Report.PDF', file_name: 'Report.PDF', directory: '/srv/data', file_extension: '.pdf' });
    assert.deepEqual(extractorOf('PathExtractor').extract('none', {}).flat, {});
  });

  it('reads addresses of objects', () => {
    assert.deepEqual(paths('s3://my-bucket/a/b.csv, s3://x').s3_paths, [
      { path: 's3://my-bucket/a/b.csv', bucket: 'my-bucket', key: 'a/b.csv' },
    ]);
  });

  it('leaves out what no file system takes', () => {
    const text = `/ok/a.txt C:\\con\\x.txt D:\\a?b /${'n'.repeat(256)}/x`;
    assert.deepEqual(
      paths(text, { validate_paths: true }).file_paths.map((one) => one.path),
      ['/ok/a.txt'],
    );
    assert.equal(paths(text).file_paths.length, 4);
  });
});
