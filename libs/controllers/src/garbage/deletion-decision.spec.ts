import { describe, expect, it } from 'vitest';
import { decideDeletion, type OwnerState } from './deletion-decision.js';

const owners = (...states: OwnerState[]) =>
  states.map((state, index) => ({
    reference: { apiVersion: 'v1', kind: 'K', name: `o${index}`, uid: `u${index}` },
    state,
  }));
const given = (states: OwnerState[], more = {}) =>
  decideDeletion({
    owners: owners(...states),
    finalizers: [],
    dependentCount: 0,
    isInCycle: false,
    ...more,
  });

describe('decideDeletion', () => {
  it('keeps an object without owners or with solid owners', () => {
    expect(given([])).toEqual({ action: 'keep' });
    expect(given(['solid', 'solid'])).toEqual({ action: 'keep' });
  });

  it('drops the references to owners that leave if one stays', () => {
    expect(given(['absent', 'solid', 'waiting'])).toEqual({
      action: 'dropOwners',
      uids: ['u0', 'u2'],
    });
  });

  it.each([
    [['absent'], {}, 'Background', false],
    [['absent'], { finalizers: ['orphan'] }, 'Orphan', false],
    [['absent'], { finalizers: ['foregroundDeletion'] }, 'Foreground', false],
    [['waiting'], {}, 'Background', false],
    [['waiting'], { dependentCount: 2 }, 'Foreground', false],
    [['waiting', 'absent'], { dependentCount: 1, isInCycle: true }, 'Foreground', true],
  ] as const)('deletes with owners %j and %j: %s', (states, more, policy, mustUnblock) => {
    expect(given([...states], more)).toEqual({ action: 'delete', policy, mustUnblock });
  });
});
