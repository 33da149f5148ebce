import { describe, expect, it } from 'vitest';
import { LeaderElectionOptions } from './leader-election-options.js';
import { parseOptions } from './parse-options.js';

const parse = (...argv: string[]) =>
  parseOptions(LeaderElectionOptions, argv, { program: 'p', description: '', version: '1' });

describe('flags of leader election', () => {
  it('are consistent by default', () => {
    expect(parse()).toMatchObject({
      enabled: true,
      leaseDurationMs: 15_000,
      resourceLock: 'leases',
    });
  });

  it.each([
    ['--leader-elect-renew-deadline=15s', 'must be less than --leader-elect-lease-duration'],
    ['--leader-elect-retry-period=9s', 'must be less than --leader-elect-renew-deadline / 1.2'],
    ['--leader-elect-resource-lock=secrets', '--leader-elect-resource-lock'],
  ])('%s is refused', (flag, reason) => {
    expect(() => parse(flag)).toThrow(reason);
  });
});
