import { StatusError } from '@orch/apimachinery';
import { authenticated } from '@orch/security';
import { describe, expect, it } from 'vitest';
import { type Admitting, admit } from '../../testing/admit.js';
import type { EventLimit } from './configuration.js';
import { eventRateRule } from './event-rate-limit.js';

const limit = (type: EventLimit['type'], fields: Partial<EventLimit> = {}): EventLimit => ({
  ...{ type, qps: 1, burst: 2, cacheSize: 10 },
  ...fields,
});

function limited(...limits: EventLimit[]) {
  let nowMs = 0;
  const clock = { monotonicMs: () => nowMs } as Parameters<typeof eventRateRule>[1];
  const rules = [eventRateRule(limits, clock)];
  const write = async (object: object, admitting: Admitting = {}): Promise<string> => {
    try {
      await admit(object, { plural: 'events', rules, ...admitting });
      return '';
    } catch (error) {
      if (error instanceof StatusError && error.code === 429) return error.message;
      throw error;
    }
  };
  return { write, advance: (ms: number) => (nowMs += ms) };
}

const inNamespace = (namespace: string) => ({ metadata: { namespace } });

describe('EventRateLimit', () => {
  it('rejects events above the burst of the server, until tokens are refilled', async () => {
    const { write, advance } = limited(limit('Server'));
    expect(await write(inNamespace('a'))).toBe('');
    expect(await write(inNamespace('b'))).toBe('');
    expect(await write(inNamespace('c'))).toBe(
      'Too many requests: limit reached on type Server for key ',
    );
    advance(1_000);
    expect(await write(inNamespace('a'))).toBe('');
    expect(await write(inNamespace('a'))).not.toBe('');
  });

  it('counts per namespace, user, and source and object', async () => {
    const one = { burst: 1 };
    const byNamespace = limited(limit('Namespace', one));
    expect(await byNamespace.write(inNamespace('a'))).toBe('');
    expect(await byNamespace.write(inNamespace('b'))).toBe('');
    expect(await byNamespace.write(inNamespace('a'))).toContain('type Namespace for key a');

    const byUser = limited(limit('User', one));
    const as = (name: string) => ({ user: authenticated(name, '', []) });
    expect(await byUser.write({}, as('ann'))).toBe('');
    expect(await byUser.write({}, as('bob'))).toBe('');
    expect(await byUser.write({}, as('ann'))).toContain('type User for key ann');

    const byObject = limited(limit('SourceAndObject', one));
    const event = (name: string) => ({
      source: { component: 'agent', host: 'n1' },
      involvedObject: { kind: 'Pod', namespace: 'a', name, uid: 'u', apiVersion: 'v1' },
    });
    expect(await byObject.write(event('p'))).toBe('');
    expect(await byObject.write(event('q'))).toBe('');
    expect(await byObject.write(event('p'))).toContain('for key agentn1Podapuv1');
  });

  it('reports every exceeded limit', async () => {
    const { write } = limited(limit('Server', { burst: 1 }), limit('Namespace', { burst: 1 }));
    await write(inNamespace('a'));
    expect(await write(inNamespace('a'))).toBe(
      'Too many requests: [limit reached on type Server for key , limit reached on type Namespace for key a]',
    );
  });

  it('forgets the least recently used keys', async () => {
    const { write } = limited(limit('Namespace', { burst: 1, cacheSize: 1 }));
    await write(inNamespace('a'));
    await write(inNamespace('b'));
    expect(await write(inNamespace('a'))).toBe('');
  });

  it('does not count dry runs and other kinds', async () => {
    const { write } = limited(limit('Server', { burst: 1 }));
    expect(await write({}, { dryRun: true })).toBe('');
    expect(await write({}, { plural: 'pods' })).toBe('');
    expect(await write({})).toBe('');
    expect(await write({}, { dryRun: true })).toBe('');
    expect(await write({})).not.toBe('');
  });
});
