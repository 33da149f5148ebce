import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPoolConfiguration } from './pool-configuration.js';

describe('readPoolConfiguration', () => {
  let directory: string;
  const read = (text: string) => {
    const file = join(directory, 'pool.yaml');
    writeFileSync(file, text);
    return readPoolConfiguration(file);
  };

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'orch-pool-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('reads addresses and machines', () => {
    const text =
      'addresses: [192.0.2.1-192.0.2.2]\nmachines: [{name: a}, {name: b, shutDown: true}]';
    const { ranges, machines } = read(text);
    expect(ranges).toHaveLength(1);
    expect([...machines!]).toEqual([
      ['a', false],
      ['b', true],
    ]);
    expect(read('addresses: []')).toEqual({ ranges: [], machines: undefined });
  });

  it.each([
    ['- a', 'the document is not a map'],
    ['', 'the document is not a map'],
    ['{', 'Flow map'],
    ['adresses: []', 'property adresses should not exist'],
    ['addresses: 192.0.2.0/30', 'addresses must be an array'],
    ['addresses: [192.0.2.0]', 'addresses[0]: want an IPv4 CIDR or a range'],
    ['addresses: [10.0.0.0/8]', 'at most 65536 are possible, got 16777216'],
    ['machines: [x]', 'machines[0] is not a map'],
    ['machines: [{}]', 'machines[0]: name should not be empty'],
    ['machines: [{name: a}, {name: a}]', "All machines's elements must be unique"],
    ['machines: [{name: a, shutDown: maybe}]', 'shutDown must be a boolean value'],
  ])('rejects %j', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it('rejects a file that does not exist', () => {
    const missing = join(directory, 'missing');
    expect(() => readPoolConfiguration(missing)).toThrow(
      `--cloud-config: cannot read ${missing}: ENOENT`,
    );
  });
});
