import { describe, expect, it } from 'vitest';
import { formatCheck } from './formats.js';

const examples: Record<string, { is: string[]; isNot: string[] }> = {
  bsonobjectid: { is: ['507f1f77bcf86cd799439011'], isNot: ['507f1f77bcf86cd79943901', 'x'] },
  uri: { is: ['https://a.example/b?c=%20', '/a/b', 'urn:a:b'], isNot: ['a', '', '/a b', '/%2'] },
  email: {
    is: ['a@example.com', 'A Name <a.b@example.com>', '"a b"@example.com', 'a@[192.0.2.1]'],
    isNot: ['a', 'a@', '@b', 'a b@example.com', 'a..b@example.com', '<a@b'],
  },
  hostname: {
    is: ['a', 'a-b.example.com', 'bücher.example'],
    isNot: ['', '-a', 'a-', 'a..b', `${'a'.repeat(64)}.com`, 'a.example.1'],
  },
  ipv4: { is: ['192.0.2.1'], isNot: ['192.0.2', '::1', '256.0.0.1'] },
  ipv6: { is: ['::1', '2001:db8::1'], isNot: ['192.0.2.1', ':::'] },
  cidr: { is: ['192.0.2.0/24', '2001:db8::/32'], isNot: ['192.0.2.0', '192.0.2.0/33'] },
  mac: { is: ['00:00:5e:00:53:01', '0000.5e00.5301'], isNot: ['00:00:5e:00:53', 'x'] },
  uuid: { is: ['a8098c1a-f86e-11da-bd1a-00112444be1e'], isNot: ['a8098c1a'] },
  uuid3: {
    is: ['bcd02e22-68f0-3046-a512-327cca9def8f'],
    isNot: ['bcd02e22-68f0-4046-a512-327cca9def8f'],
  },
  uuid4: {
    is: ['025b0d74-00a2-4048-bf57-227c5111bb34'],
    isNot: ['025b0d74-00a2-4048-cf57-227c5111bb34'],
  },
  uuid5: {
    is: ['886313e1-3b8a-5372-9b90-0c9aee199e5d'],
    isNot: ['886313e1-3b8a-4372-9b90-0c9aee199e5d'],
  },
  isbn: { is: ['0-321-14653-0', '978-0-321-14653-3'], isNot: ['0-321-14653-1'] },
  isbn10: { is: ['0-8044-2957-X'], isNot: ['978-0-321-14653-3'] },
  isbn13: { is: ['9780321146533'], isNot: ['9780321146534', '0321146530'] },
  creditcard: { is: ['4012 8888 8888 1881'], isNot: ['4012888888881882', '1234'] },
  ssn: { is: ['111-11-1111', '111 11 1111'], isNot: ['11-11-1111'] },
  hexcolor: { is: ['#fff', 'FFFFFF'], isNot: ['#ff', '#ggg'] },
  rgbcolor: { is: ['rgb(0,128, 255)'], isNot: ['rgb(0,0,256)', 'rgb(0,0)'] },
  byte: { is: ['eA==', 'YWJj'], isNot: ['', 'eA', 'eA=', 'e===', 'a!=='] },
  password: { is: ['', 'anything'], isNot: [] },
  date: { is: ['2024-02-29', '0001-01-01'], isNot: ['2023-02-29', '2024-13-01', '24-01-01'] },
  'date-time': {
    is: ['2020-01-01T00:00:00Z', '2020-01-01t23:59:59.123456789+02:00'],
    isNot: ['2020-01-01', '2020-01-01T24:00:00Z', '2020-02-30T00:00:00Z', '2020-01-01T00:00:00'],
  },
  duration: {
    is: ['1h30m', '-1.5s', '0', '2 days', '3 weeks'],
    isNot: ['', '5', 'h', '1 lightyear'],
  },
};

describe.each(Object.entries(examples))('%s', (format, { is, isNot }) => {
  it('accepts valid values and rejects invalid ones', () => {
    const check = formatCheck(format)!;
    expect(is.filter((text) => !check(text))).toEqual([]);
    expect(isNot.filter((text) => check(text))).toEqual([]);
  });

  it('terminates quickly on long texts', () => {
    const check = formatCheck(format)!;
    const pieces = ['a', '1', 'f', '.', ':', '"', '\\', '<', ' ', '%', '-', '\\"'];
    for (const first of pieces) {
      for (const second of pieces) {
        expect(typeof check(`${first + second.repeat(9)}`.repeat(2_000))).toBe('boolean');
        expect(typeof check(first.repeat(20_000) + second)).toBe('boolean');
      }
    }
  });
});

it('does not check other formats', () => {
  expect(['int32', 'double', 'x', 'constructor'].map(formatCheck)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
