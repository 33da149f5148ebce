import { describe, expect, it } from 'vitest';
import type { ContainerState, ContainerStatus } from '../runtimes/container-runtime.js';
import { selectRun, waitingReason } from './log-run.js';

const runsOf = (...states: ContainerState[]) =>
  states.map((state, attempt) => ({ state, attempt }) as ContainerStatus);
const attempt = (states: ContainerState[], waits: boolean, previous: boolean) =>
  selectRun(runsOf(...states), waits, previous)?.attempt;

describe('the run whose log is served', () => {
  it.each<[ContainerState[], boolean, number | undefined, number | undefined]>([
    [[], true, undefined, undefined],
    [['created'], true, undefined, undefined],
    [['running'], false, 0, undefined],
    [['exited'], false, 0, undefined],
    [['exited'], true, 0, 0],
    [['exited', 'created'], true, 0, 0],
    [['exited', 'running'], false, 1, 0],
    [['exited', 'exited'], false, 1, 0],
    [['exited', 'exited'], true, 1, 1],
    [['exited', 'exited', 'created'], false, 1, 1],
  ])('of %j, waiting: %s, is %s, the previous one %s', (states, waits, now, before) => {
    expect(attempt(states, waits, false)).toBe(now);
    expect(attempt(states, waits, true)).toBe(before);
  });

  it('has a waiting reason if it is missing', () => {
    expect(waitingReason('ErrImagePull')).toBe("image can't be pulled");
    expect(waitingReason('PodInitializing')).toBe('PodInitializing');
    expect(waitingReason(undefined)).toBe('ContainerCreating');
  });
});
