import { expect, it } from 'vitest';
import { CommonOptions } from '../options/common-options.js';
import { Flags } from '../options/flag.js';
import { parseOptions } from '../options/parse-options.js';
import { isHidden } from './deprecation.js';
import { Metrics } from './metrics.js';

class Options {
  @Flags(CommonOptions)
  common!: CommonOptions;
}

function shownRelease(...argv: string[]): string {
  const info = { program: 'orch-test', description: '', version: '0' };
  return parseOptions(Options, argv, info).common.shownMetricsRelease;
}

async function served(release: string): Promise<string> {
  const metrics = new Metrics(release);
  const name = (minor: number) => ({ name: `old_${minor}_total`, help: 'Old.' });
  for (const minor of [19, 20, 21, 22]) {
    metrics.counter({ ...name(minor), deprecatedSince: `1.${minor}.0` }).inc();
  }
  return metrics.render();
}

it('hides a deprecated ALPHA metric after one release, and marks it as deprecated until then', async () => {
  const text = await served('');
  expect(text).not.toContain('old_19_total');
  expect(text).not.toContain('old_20_total');
  expect(text).toContain('# HELP old_21_total [ALPHA] (Deprecated since 1.21.0) Old.');
  expect(text).toContain('# HELP old_22_total [ALPHA] Old.');
});

it('shows metrics hidden since the previous release on request, and nothing older', async () => {
  const text = await served('1.20');
  expect(text).not.toContain('old_19_total');
  expect(text).toContain('# HELP old_20_total [ALPHA] (Deprecated since 1.20.0) Old.');
  expect(text).toContain('old_20_total 1');
});

it('hides deprecated STABLE metrics after three releases', () => {
  expect(isHidden('1.19.0', 'STABLE', '')).toBe(false);
  expect(isHidden('1.18.0', 'STABLE', '')).toBe(true);
  expect(isHidden('1.18.0', 'STABLE', '1.20')).toBe(false);
  expect(isHidden('1.17.0', 'STABLE', '1.20')).toBe(true);
});

it('accepts only the previous minor version', () => {
  expect(shownRelease()).toBe('');
  expect(shownRelease('--show-hidden-metrics-for-version=1.20')).toBe('1.20');
  for (const wrong of ['1.19', '1.21', '1.20.0', 'all']) {
    expect(() => shownRelease(`--show-hidden-metrics-for-version=${wrong}`)).toThrow(
      "--show-hidden-metrics-for-version must be omitted or have the value '1.20'. Only the previous minor version is allowed",
    );
  }
});
