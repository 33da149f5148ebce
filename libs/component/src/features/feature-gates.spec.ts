import { describe, expect, it } from 'vitest';
import { ValueError } from '../options/values.js';
import { FeatureGates } from './feature-gates.js';

const gates = () => new FeatureGates(new Set(['IndexedJob', 'SuspendJob', 'DryRun']));

describe('FeatureGates', () => {
  it('starts from the defaults of the release', () => {
    expect(gates().enabled('IndexedJob')).toBe(false);
    expect(gates().enabled('ServerSideApply')).toBe(true);
  });

  it('sets single gates and whole stages, single ones winning', () => {
    const features = gates();
    features.set({ SuspendJob: 'false', AllAlpha: 'true' });
    expect(features.enabled('IndexedJob')).toBe(true);
    expect(features.enabled('SuspendJob')).toBe(false);
  });

  it('refuses unknown gates, other values and turning a locked gate', () => {
    expect(() => gates().set({ Nope: 'true' })).toThrow(ValueError);
    expect(() => gates().set({ IndexedJob: 'yes' })).toThrow(/IndexedJob: want true or false/);
    expect(() => gates().set({ WatchBookmark: 'false' })).toThrow(/fixed to true/);
    expect(() => gates().set({ WatchBookmark: 'true' })).not.toThrow();
  });

  it('says which settings are deprecated or do nothing', () => {
    const features = gates();
    features.set({ DryRun: 'true', WinDSR: 'true', IndexedJob: 'true' });
    expect(features.warnings).toEqual([
      expect.stringMatching(/DryRun is GA/),
      expect.stringMatching(/WinDSR has no effect/),
    ]);
  });
});
