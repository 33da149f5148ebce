/** `planClaim` and `planVolume` alone, and together until nothing changes any more. */
import { isReservedFor } from '@orch/apimachinery';
import type { PersistentVolume, PersistentVolumeClaim } from '@orch/types/core/v1';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stateCount, stateTimeoutMs } from '../../test/states.js';
import { claim, storageClass, volume } from '../../test/volumes.js';
import {
  boundClaim,
  claimWithVolume,
  unboundClaim,
  volumeWithClaim,
  volumeWithoutClaim,
  volumeWithPhase,
} from './binding-plan.js';
import { type ClaimState, planClaim } from './claim-plan.js';
import { planVolume } from './volume-plan.js';

const late = storageClass('slow', 'disk.example.com', {
  volumeBindingMode: 'WaitForFirstConsumer',
});
const completedKey = 'pv.orch.io/bind-completed';
const completed = { [completedKey]: 'yes' };
const reference = (name: string, uid = '') => ({
  ...{ namespace: 'default', name },
  ...(uid && { uid }),
});

function stateOf(of: PersistentVolumeClaim, more: Partial<ClaimState> = {}): ClaimState {
  const none = { namedVolume: undefined, storageClass: undefined };
  return { claim: of, candidates: [], waitingPods: [], ...none, ...more };
}

const planned = (...of: Parameters<typeof stateOf>) => {
  const decision = planClaim(stateOf(...of));
  if (decision.act === 'bind') return `bind ${decision.volume.metadata?.name}`;
  return 'notice' in decision && decision.notice
    ? `${decision.act}: ${decision.notice.reason}`
    : decision.act;
};

describe('planClaim', () => {
  it('selects the volume with the fewest access modes, then the smallest that fits', () => {
    const many = volume('many', '2Gi', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] });
    const candidates = [many, volume('large', '9Gi'), volume('fits', '3Gi'), volume('small')];
    expect(planned(claim('c', '2Gi'), { candidates })).toBe('bind fits');
    const spec = { accessModes: ['ReadOnlyMany' as const] };
    expect(planned(claim('c', '2Gi', spec), { candidates })).toBe('bind many');
  });

  it.each<[string, PersistentVolume]>([
    ['of another class', volume('v', '1Gi', { storageClassName: 'fast' })],
    ['of another mode', volume('v', '1Gi', { volumeMode: 'Block' })],
    ['of another claim', volume('v', '1Gi', { claimRef: reference('other') })],
    ['of an earlier claim of the name', volume('v', '1Gi', { claimRef: reference('c', 'old') })],
    ['that is not available', { ...volume('v'), status: { phase: 'Released' } }],
  ])('binds no volume %s', (_, candidate) => {
    expect(planned(claim('c'), { candidates: [candidate] })).toBe('provision');
  });

  it('prefers the volume that is reserved for the claim, whatever its class', () => {
    const spec = { claimRef: reference('c'), storageClassName: 'other' };
    const candidates = [volume('free'), volume('reserved', '5Gi', spec)];
    expect(planned(claim('c'), { candidates })).toBe('bind reserved');
    expect(planned(claim('c'), { candidates, storageClass: late })).toBe('bind reserved');
    expect(planned(claim('d'), { candidates })).toBe('bind free');
  });

  it('waits for a pod, and provisions when a node is selected', () => {
    const candidates = [volume('v')];
    const waiting = { candidates, storageClass: late };
    expect(planned(claim('c'), waiting)).toBe('wait: WaitForFirstConsumer');
    expect(planned(claim('c'), { ...waiting, waitingPods: ['p'] })).toBe(
      'wait: WaitForPodScheduled',
    );
    const selected = claim('c', '1Gi', {}, { 'volume.orch.io/selected-node': 'n' });
    expect(planned(selected, { storageClass: late })).toBe('provision');
  });

  it.each<[string, PersistentVolume | undefined, string]>([
    ['is missing', undefined, 'wait'],
    ['fits', volume('v'), 'bind v'],
    ['is reserved for it', volume('v', '1Mi', { claimRef: reference('c') }), 'bind v'],
    ['is too small', volume('v', '1Mi'), 'wait: VolumeMismatch'],
    ['has another class', volume('v', '1Gi', { storageClassName: '' }), 'wait: VolumeMismatch'],
    ['is taken', volume('v', '1Gi', { claimRef: reference('d', 'x') }), 'wait: FailedBinding'],
  ])('if the volume that it names %s', (_, namedVolume, expected) => {
    expect(planned(claim('c', '1Gi', { volumeName: 'v' }), { namedVolume })).toBe(expected);
  });

  it('loses a bound claim whose volume is gone or of another', () => {
    const bound = claim('c', '1Gi', { volumeName: 'v' }, completed);
    expect(planned(bound)).toBe('lose: ClaimLost');
    expect(planned(bound, { namedVolume: volume('v') })).toBe('bind v');
    const taken = volume('v', '1Gi', { claimRef: reference('d', 'uid-d') });
    expect(planned(bound, { namedVolume: taken })).toBe('lose: ClaimMisbound');
  });

  it('gives a claim that is being deleted no volume', () => {
    const deleted = claim('c');
    deleted.metadata!.deletionTimestamp = '2021-01-01T00:00:00Z';
    expect(planned(deleted, { candidates: [volume('v')] })).toBe('wait');
  });
});

describe('the plans together', () => {
  /** Claims and volumes by name, reconciled as the controller does. */
  class Cluster {
    /** Claims that were bound by others, perhaps wrongly. */
    private readonly completed: ReadonlySet<string>;

    constructor(
      readonly claims: Map<string, PersistentVolumeClaim>,
      readonly volumes: Map<string, PersistentVolume>,
    ) {
      const bound = [...claims].filter(([, { metadata }]) => metadata?.annotations?.[completedKey]);
      this.completed = new Set(bound.map(([name]) => name));
    }

    reconcileClaim(name: string, writeCountMax = 4): void {
      const of = this.claims.get(name);
      if (!of) return;
      const all = [...this.volumes.values()];
      const state = stateOf(of, {
        namedVolume: this.volumes.get(of.spec?.volumeName ?? ''),
        candidates: all,
      });
      const decision = planClaim(state);
      if (decision.act !== 'bind') {
        if (decision.act === 'lose') expect(this.completed).toContain(name);
        const phase = decision.act === 'lose' ? 'Lost' : 'Pending';
        this.claims.set(name, unboundClaim(of, phase) ?? of);
        return;
      }
      this.checkBinding(of, decision.volume);
      this.bind(of, decision.volume, writeCountMax);
    }

    /** A claim never gets a volume of another claim, nor one that does not fit. */
    private checkBinding(of: PersistentVolumeClaim, found: PersistentVolume): void {
      if (found.spec?.claimRef) {
        expect(isReservedFor(found, of)).toBe(true);
        return;
      }
      if (of.metadata?.annotations?.[completedKey]) return;
      expect(found.spec?.storageClassName).toBe(of.spec?.storageClassName);
      expect(found.metadata?.deletionTimestamp).toBeUndefined();
      const gib = (text = '0') => Number(text.replace('Gi', ''));
      const requested = gib(of.spec?.resources?.requests?.storage);
      expect(gib(found.spec?.capacity?.storage)).toBeGreaterThanOrEqual(requested);
    }

    /** The controller may end after any of the writes. */
    private bind(of: PersistentVolumeClaim, found: PersistentVolume, writeCountMax: number): void {
      const name = found.metadata?.name ?? '';
      let left = writeCountMax;
      const reserved = volumeWithClaim(found, of) ?? found;
      if (left-- > 0) this.volumes.set(name, reserved);
      const bound = volumeWithPhase(reserved, 'Bound') ?? reserved;
      if (left-- > 0) this.volumes.set(name, bound);
      const named = claimWithVolume(of, bound) ?? of;
      if (left-- > 0) this.claims.set(of.metadata?.name ?? '', named);
      if (left-- > 0) this.claims.set(of.metadata?.name ?? '', boundClaim(named, bound) ?? named);
    }

    reconcileVolume(name: string): void {
      const found = this.volumes.get(name);
      if (!found) return;
      const named = this.claims.get(found.spec?.claimRef?.name ?? '');
      const of = named?.metadata?.uid === found.spec?.claimRef?.uid ? named : undefined;
      const decision = planVolume({ volume: found, claim: of });
      switch (decision.act) {
        case 'mark':
          this.volumes.set(name, volumeWithPhase(found, decision.phase) ?? found);
          return;
        case 'unbind': {
          const free = volumeWithoutClaim(found) ?? found;
          this.volumes.set(name, volumeWithPhase(free, 'Available') ?? free);
          return;
        }
        case 'reclaim':
          // No claim that could use the data exists.
          expect(of === undefined || of.spec?.volumeName !== name).toBe(true);
          this.volumes.set(name, volumeWithPhase(found, 'Released') ?? found);
          return;
        default:
      }
    }

    round(): void {
      for (const name of this.claims.keys()) this.reconcileClaim(name);
      for (const name of this.volumes.keys()) this.reconcileVolume(name);
    }

    get text(): string {
      return JSON.stringify([[...this.claims], [...this.volumes]]);
    }
  }

  /** Rare states at the start, so that most claims can be bound. */
  const rarely = fc.nat(7).map((drawn) => drawn === 0);
  const sometimes = <T>(arbitrary: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
  const index = fc.nat(3);
  const size = fc.constantFrom('1Gi', '2Gi', '3Gi');
  const className = fc.constantFrom('slow', '');
  const modes = fc.constantFrom(['ReadWriteOnce' as const], ['ReadWriteOnce', 'ReadOnlyMany'] as (
    | 'ReadWriteOnce'
    | 'ReadOnlyMany'
  )[]);
  const volumeFacts = fc.record({
    size,
    className,
    modes,
    owner: sometimes(fc.record({ index, kind: fc.constantFrom('', 'own', 'old') })),
    isDeleted: rarely,
    isChosen: fc.boolean(),
    isProvisioned: fc.boolean(),
  });
  const claimFacts = fc.record({
    size,
    className,
    modes,
    volume: sometimes(fc.nat(5)),
    isCompleted: rarely,
    isDeleted: rarely,
  });
  const states = fc.record({
    claims: fc.array(claimFacts, { maxLength: 4 }),
    volumes: fc.array(volumeFacts, { maxLength: 5 }),
    steps: fc.array(fc.record({ isClaim: fc.boolean(), index: fc.nat(4), writes: fc.nat(4) }), {
      maxLength: 12,
    }),
    deletedClaim: sometimes(index),
  });
  const deletionTimestamp = '2021-01-01T00:00:00Z';

  function clusterOf(facts: typeof states extends fc.Arbitrary<infer F> ? F : never): Cluster {
    const claims = facts.claims.map((of, at) => {
      const spec = {
        storageClassName: of.className,
        accessModes: of.modes,
        ...(of.volume !== null && { volumeName: `v${of.volume}` }),
      };
      const made = claim(`c${at}`, of.size, spec, of.isCompleted ? completed : {});
      if (of.isDeleted) made.metadata!.deletionTimestamp = deletionTimestamp;
      return [`c${at}`, made] as const;
    });
    const volumes = facts.volumes.map((of, at) => {
      const { owner } = of;
      const uids: Record<string, string> = { '': '', own: `uid-c${owner?.index}`, old: 'gone' };
      const spec = {
        storageClassName: of.className,
        accessModes: of.modes,
        ...(owner && { claimRef: reference(`c${owner.index}`, uids[owner.kind]) }),
        ...(of.isProvisioned && { persistentVolumeReclaimPolicy: 'Delete' as const }),
      };
      const made = volume(`v${at}`, of.size, spec, {
        ...(of.isChosen && owner && { 'pv.orch.io/bound-by-controller': 'yes' }),
        ...(of.isProvisioned && { 'pv.orch.io/provisioned-by': 'orch.io/local-path' }),
      });
      if (of.isDeleted) made.metadata!.deletionTimestamp = deletionTimestamp;
      return [`v${at}`, made] as const;
    });
    return new Cluster(new Map(claims), new Map(volumes));
  }

  it('bind each volume to one claim, and settle, wherever the controller was interrupted', {
    timeout: stateTimeoutMs,
  }, () => {
    const property = fc.property(states, (facts) => {
      const cluster = clusterOf(facts);
      for (const { isClaim, index: at, writes } of facts.steps) {
        if (isClaim) cluster.reconcileClaim(`c${at}`, writes);
        else cluster.reconcileVolume(`v${at}`);
      }
      if (facts.deletedClaim !== null) cluster.claims.delete(`c${facts.deletedClaim}`);
      for (let round = 0; round < 8; round++) cluster.round();
      const settled = cluster.text;
      cluster.round();
      expect(cluster.text).toBe(settled);

      const bound = [...cluster.claims.values()].filter(({ status }) => status?.phase === 'Bound');
      const names = bound.map(({ spec }) => spec?.volumeName);
      expect(new Set(names).size).toBe(names.length);
      for (const of of bound) {
        const own = cluster.volumes.get(of.spec?.volumeName ?? '');
        expect(own?.spec?.claimRef?.uid).toBe(of.metadata?.uid);
        expect(own?.status?.phase).toBe('Bound');
      }
      for (const own of cluster.volumes.values()) {
        if (own.status?.phase !== 'Bound') continue;
        const of = cluster.claims.get(own.spec?.claimRef?.name ?? '');
        expect(of?.spec?.volumeName).toBe(own.metadata?.name);
      }
    });
    fc.assert(property, { numRuns: stateCount });
  });
});
