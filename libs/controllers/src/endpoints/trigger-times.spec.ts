import { describe, expect, it } from 'vitest';
import { at, epochMs, pod, service } from '../../test/objects.js';
import { TriggerTimes } from './trigger-times.js';

const web = service({});
const key = 'default/web';

describe('TriggerTimes', () => {
  it('starts with the creation of the service', () => {
    const next = new TriggerTimes().next(key, web, [pod({ readySince: 60 })]);
    expect(next.atMs).toBe(epochMs);
  });

  it('returns the earliest change of readiness that was not covered', () => {
    const times = new TriggerTimes();
    times.cover(key, times.next(key, web, [pod({ name: 'a', readySince: 5 })]));
    const pods = [
      pod({ name: 'a', readySince: 5 }),
      pod({ name: 'b', readySince: 90 }),
      pod({ name: 'c', readySince: -60 }),
    ];
    const next = times.next(key, web, pods);
    expect(next.atMs).toBe(epochMs - 60_000);
    times.cover(key, next);
    expect(times.next(key, web, pods).atMs).toBeUndefined();
  });

  it('returns the same time again until it is covered', () => {
    const times = new TriggerTimes();
    times.cover(key, times.next(key, web, []));
    const pods = [pod({ readySince: 30 })];
    times.next(key, web, pods);
    expect(times.next(key, web, pods).atMs).toBe(epochMs + 30_000);
  });

  it('starts again with a service of the same name', () => {
    const times = new TriggerTimes();
    times.cover(key, times.next(key, web, []));
    const successor = { ...web, metadata: { ...web.metadata, creationTimestamp: at(300) } };
    expect(times.next(key, successor, []).atMs).toBe(epochMs + 300_000);
    times.forget(key);
    expect(times.next(key, web, []).atMs).toBe(epochMs);
  });
});
