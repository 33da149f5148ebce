import type { Clock, Logger } from '@orch/component';
import { createLogger } from '@orch/component';
import type { Container, Probe } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import type { ContainerId } from '../runtimes/container-runtime.js';
import { ProbeCounter } from './probe-counter.js';
import { Prober } from './prober.js';

const logger: Logger = createLogger({ component: 'test', format: 'text', level: 'error' });

/** A manual clock that lets pending promises settle after each step. */
class TestClock implements Clock {
  private timeMs = 1_000_000;
  private timers: { atMs: number; callback: () => void }[] = [];
  nowMs = () => this.timeMs;
  monotonicMs = () => this.timeMs;
  setTimer(delayMs: number, callback: () => void) {
    const timer = { atMs: this.timeMs + delayMs, callback };
    this.timers.push(timer);
    const cancel = () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
    return { cancel };
  }
  async advance(ms: number): Promise<void> {
    const endMs = this.timeMs + ms;
    for (;;) {
      const [next] = this.timers
        .filter(({ atMs }) => atMs <= endMs)
        .sort((a, b) => a.atMs - b.atMs);
      if (!next) break;
      this.timers = this.timers.filter((one) => one !== next);
      this.timeMs = Math.max(this.timeMs, next.atMs);
      next.callback();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.timeMs = endMs;
  }
}

describe('Prober', () => {
  const probe = (more: Probe = {}): Probe => ({ periodSeconds: 1, ...more });

  function setUp(container: Partial<Container>) {
    const clock = new TestClock();
    const state = { healthy: true, log: [] as string[], runs: 0 };
    const target = {
      pod: { uid: 'u', namespace: 'n', name: 'p' },
      podIp: '10.0.0.1',
      containerId: 'c1' as ContainerId,
      container: { name: 'main', ...container },
      startedAtMs: clock.nowMs(),
    };
    const prober = new Prober({
      clock,
      logger,
      random: () => 0.5,
      run: async () => {
        state.runs += 1;
        return { succeeded: state.healthy, output: '' };
      },
      onFailure: (_target, kind) => state.log.push(`failed ${kind}`),
      onChanged: (_target, kind) =>
        state.log.push(`${kind} ${prober.result('c1' as ContainerId, kind)}`),
    });
    prober.track([target], []);
    return { clock, prober, state, target };
  }

  it('waits for the initial delay and applies the thresholds', async () => {
    const { clock, state } = setUp({
      readinessProbe: probe({ initialDelaySeconds: 5, successThreshold: 2, failureThreshold: 3 }),
    });
    await clock.advance(4_900);
    expect(state.runs).toBe(0);
    await clock.advance(1_200);
    expect(state.log).toEqual(['readiness success']);
    state.healthy = false;
    await clock.advance(2_000);
    state.log.length = 0;
    await clock.advance(1_000);
    expect(state.log).toEqual(['failed readiness', 'readiness failure']);
  });

  it('delays other probes until the startup probe has succeeded', async () => {
    const { clock, state, prober, target } = setUp({
      startupProbe: probe({ failureThreshold: 30 }),
      livenessProbe: probe(),
    });
    state.healthy = false;
    await clock.advance(10_000);
    expect(new Set(state.log)).toEqual(new Set(['failed startup']));
    expect(prober.result(target.containerId, 'liveness')).toBe('success');
    state.healthy = true;
    await clock.advance(1_000);
    expect(state.log.at(-1)).toBe('startup success');
    state.healthy = false;
    await clock.advance(3_000);
    expect(state.log.at(-1)).toBe('liveness failure');
  });

  it('stops probing containers that no longer run', async () => {
    const { clock, prober, state, target } = setUp({ livenessProbe: probe() });
    await clock.advance(1_000);
    prober.track([], [target.containerId]);
    const { runs } = state;
    await clock.advance(10_000);
    expect(state.runs).toBe(runs);
    expect(prober.result(target.containerId, 'liveness')).toBeUndefined();
  });
});

it('counts only consecutive outcomes', () => {
  const counter = new ProbeCounter({ successThreshold: 1, failureThreshold: 3 }, 'success');
  for (const outcome of ['failure', 'failure', 'success', 'failure', 'failure'] as const) {
    expect(counter.count(outcome)).toBe(false);
  }
  expect(counter.count('failure')).toBe(true);
  expect(counter.result).toBe('failure');
  expect(counter.count('success')).toBe(true);
});
