import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AddressPolicy, checkAddresses, checkUrl, printableUrl } from '../../../../runtime/net/address.js';
import { type AddressKind, kindOfAddress } from '../../../../runtime/net/ip.js';
import { Failure } from '../../../../schemas/errors.js';

const KINDS: Record<AddressKind, readonly string[]> = {
  public: [
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
    '192.0.1.1',
    '198.20.0.1',
    '223.255.255.255',
    '169.253.255.255',
  ],
  loopback: [
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '::7f00:1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b:1::7f00:1',
    '2002:7f00:1::',
    '2001:db9::5efe:127.0.0.1',
    '2001:db9::200:5efe:127.0.0.1',
    '[::1]',
  ],
  private: [
    '10.0.0.1',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '192.168.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '198.18.0.1',
    '198.19.255.255',
    'fc00::1',
    'fd12:3456::1',
    'fec0::1',
    '::ffff:10.0.0.1',
    '64:ff9b::192.168.1.1',
    '2002:a00:1::',
  ],
  link_local: ['169.254.0.1', '169.254.255.255', 'fe80::1', 'fe80::1%eth0', 'febf::1', '::ffff:169.254.1.1', '::ffff:a9fe:101'],
  metadata: [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::',
    'fd00:ec2::254',
    'fd00:0ec2:0:0::254',
    'fd20:ce::254',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
    '169.254.170.2',
  ],
  unspecified: ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0', '[::]', '64:ff9b::'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', '::ffff:224.0.0.251'],
  broadcast: ['255.255.255.255', '::ffff:255.255.255.255'],
  reserved: [
    '192.0.2.1',
    '198.51.100.7',
    '203.0.113.9',
    '240.0.0.1',
    '192.88.99.1',
    '2001:db8::1',
    '2001::1',
    '100::1',
    '4000::1',
    '3fff::1',
    '5f00::1',
  ],
};

/** Hosts as an attacker spells them; each reaches this machine, its network or a metadata service. */
const REFUSED_IN_REQUEST = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://127.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://127.0.0.1./',
  'http://①②⑦.⓪.⓪.①/',
  'http://127。0。0。1/',
  'http://0/',
  'http://0.0.0.0:80/',
  'http://[::]/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[fe80::1]/',
  'http://[fc00::1]/',
  'http://10.0.0.1/',
  'http://012.0.0.1/',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/',
  'http://100.100.100.200/',
  'http://localhost/',
  'http://LOCALHOST/',
  'http://localhost./',
  'http://a.localhost/',
  'http://printer.local/',
  'http://PRINTER.LOCAL./',
  'http://metadata.google.internal/',
  'http://db.internal/',
  'http://router/',
  'http://nas.lan/',
  'http://x.home.arpa/',
  'http://192.168.1.1/',
  'http://172.16.0.1/',
  'http://255.255.255.255/',
  'http://224.0.0.1/',
  'ftp://example.org/',
  'file:///etc/passwd',
  'gopher://example.org/',
  'data:text/plain,hi',
  'javascript:alert(1)',
  'unix:///run/x.sock',
  'http://user@example.org/',
  'http://user:secret@example.org/',
  'http://8.8.8.8@127.0.0.1/',
  'http://127.0.0.1#@8.8.8.8/',
  'http://127.0.0.1\\@8.8.8.8/',
  'http:\\\\127.0.0.1/',
  'http://',
  '//127.0.0.1',
  'not a url',
  '',
  `http://example.org/${'x'.repeat(5000)}`,
];

const REFUSED_BY_OPERATOR = [
  'http://169.254.169.254/',
  'http://0xa9fea9fe/v1',
  'http://[::ffff:a9fe:a9fe]/',
  'http://169.254.1.1/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/',
  'http://100.100.100.200/',
  'http://metadata.google.internal/',
  'http://0.0.0.0:8080/',
  'http://[::]/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'file:///etc/passwd',
  'http://user:secret@localhost/',
];

const ALLOWED: Record<AddressPolicy, readonly string[]> = {
  request: [
    'https://example.org/v1',
    'http://8.8.8.8/',
    'http://[2606:4700::1111]/',
    'https://local.example.org/',
    'https://localhost.example.org/',
  ],
  operator: [
    'http://localhost:11434/v1',
    'http://127.0.0.1:1/',
    'http://[::1]:11434/v1',
    'http://192.168.1.20:8000/v1',
    'http://10.1.2.3/',
    'http://gpu-box:8000/v1',
    'http://printer.local/',
    'http://[fd12::1]/',
    'https://example.org/v1',
  ],
};

const refuses = (run: () => unknown): void =>
  assert.throws(run, (error: unknown) => {
    assert.ok(error instanceof Failure);
    assert.equal(error.kind, 'bad_request');
    assert.ok(!error.message.includes('secret'), error.message);
    return true;
  });

describe('addresses', () => {
  for (const [kind, list] of Object.entries(KINDS))
    it(`are ${kind}`, () => {
      for (const text of list) assert.equal(kindOfAddress(text), kind, text);
    });

  it('are not names', () => {
    for (const text of ['localhost', '', '1.2.3', '1.2.3.4.5', ':::', 'g::1', '2130706433'])
      assert.equal(kindOfAddress(text), undefined, text);
  });

  it('each range ends where the registry says', () => {
    for (const [inside, outside] of [
      ['10.255.255.255', '11.0.0.0'],
      ['127.255.255.255', '128.0.0.0'],
      ['0.255.255.255', '1.0.0.0'],
      ['169.254.0.0', '169.255.0.0'],
      ['224.0.0.0', '223.255.255.255'],
    ] as const) {
      assert.notEqual(kindOfAddress(inside), 'public', inside);
      assert.equal(kindOfAddress(outside), 'public', outside);
    }
  });
});

describe('URLs', () => {
  for (const url of REFUSED_IN_REQUEST) it(`in a request: refuses ${url.slice(0, 60)}`, () => refuses(() => checkUrl(url, 'request')));
  for (const url of REFUSED_BY_OPERATOR) it(`in a project file: refuses ${url}`, () => refuses(() => checkUrl(url, 'operator')));
  for (const policy of ['request', 'operator'] as const)
    for (const url of ALLOWED[policy]) it(`${policy}: allows ${url}`, () => assert.equal(checkUrl(url, policy).href, new URL(url).href));

  it('the address of every interface is refused with the one to write, where an operator wrote it', () => {
    assert.throws(() => checkUrl('http://0.0.0.0:8080/', 'operator'), /write 127\.0\.0\.1 or \[::1\]/);
    assert.throws(
      () => checkUrl('http://0.0.0.0:8080/', 'request'),
      (error: Error) => !error.message.includes('write 127'),
    );
  });
  it('are shown without credentials and query', () => {
    assert.equal(printableUrl(new URL('https://u:p@host:8443/v1?key=secret#x')), 'https://host:8443/v1');
    assert.equal(printableUrl(new URL('https://host/')), 'https://host');
  });
});

describe('resolved addresses', () => {
  it('one bad address refuses a host of a request', () => refuses(() => checkAddresses('h', ['8.8.8.8', '10.0.0.1'], 'request')));
  it('a metadata address refuses every host', () => refuses(() => checkAddresses('h', ['127.0.0.1', '169.254.169.254'], 'operator')));
  it('link-local ones are left out for an operator', () =>
    assert.deepEqual(checkAddresses('h', ['fe80::1', '192.168.1.2'], 'operator'), ['192.168.1.2']));
  it('and refused when nothing else is left', () => refuses(() => checkAddresses('h', ['fe80::1'], 'operator')));
  it('something that is no address is refused', () => refuses(() => checkAddresses('h', ['elsewhere'], 'request')));
});
