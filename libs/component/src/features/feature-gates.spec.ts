import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ValueError } from '../options/values.js';
import { FeatureGates } from './feature-gates.js';
import { idleGates, idleReason, operationalGates } from './gate-effects.js';
import { knownGates } from './known-gates.js';

const gates = () => new FeatureGates('apiserver');

describe('FeatureGates', () => {
  it('starts from the defaults of the release', () => {
    expect(gates().enabled('MixedProtocolLBService')).toBe(false);
    expect(gates().enabled('ServerSideApply')).toBe(true);
    expect(() => gates().enabled('Nope')).toThrow(/unknown feature gate Nope/);
  });

  it('sets single gates and whole stages, with precedence for single gates', () => {
    const features = gates();
    features.set({ SuspendJob: 'false', AllAlpha: 'true', AppArmor: 'true', AllBeta: 'false' });
    expect(features.enabled('MixedProtocolLBService')).toBe(true);
    expect(features.enabled('SuspendJob')).toBe(false);
    expect(features.enabled('ServerSideApply')).toBe(false);
    expect(features.enabled('AppArmor')).toBe(true);
    expect(features.enabled('WatchBookmark')).toBe(true);
  });

  it('rejects unknown gates, invalid values and changes of locked gates', () => {
    expect(() => gates().set({ Nope: 'true' })).toThrow(ValueError);
    expect(() => gates().set({ IndexedJob: 'yes' })).toThrow(/IndexedJob: want true or false/);
    expect(() => gates().set({ WatchBookmark: 'false' })).toThrow(/locked to true/);
    expect(() => gates().set({ WatchBookmark: 'true' })).not.toThrow();
    expect(() => gates().set({ ExecProbeTimeout: 'false' })).toThrow(/locked to true/);
    expect(() => gates().set({ DryRun: 'false' })).not.toThrow();
    expect(() => new FeatureGates('scheduler').set({ DryRun: 'false' })).not.toThrow();
  });

  it('warns of deprecated gates and of gates without effect, with the reason', () => {
    const features = gates();
    features.set({ DryRun: 'true', WinDSR: 'true', PodDeletionCost: 'true', AppArmor: 'false' });
    expect(features.warnings).toEqual([
      expect.stringMatching(/DryRun is GA/),
      expect.stringMatching(/WinDSR has no effect .*: Windows nodes are not supported/),
      expect.stringMatching(/PodDeletionCost has no effect .*: it applies to other components/),
    ]);
  });
});

describe('gate effects', () => {
  it('list every known gate once', () => {
    const known = knownGates.flatMap(({ names }) => names);
    const operational = new Set(Object.values(operationalGates).flat());
    const idle = Object.values(idleGates).flat();
    expect([...operational, ...idle].sort()).toEqual([...known].sort());
    for (const name of idle) expect(idleReason(name)).not.toContain('other components');
  });

  it('are documented for every gate with an effect', () => {
    const file = new URL('../../../../docs/feature-gates.md', import.meta.url);
    const documented = [...readFileSync(file, 'utf8').matchAll(/^\| `(\w+)`/gm)].map(
      ([, name]) => name,
    );
    expect(documented.sort()).toEqual([...new Set(Object.values(operationalGates).flat())].sort());
  });
});
