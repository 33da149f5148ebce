/** The `--dry-run` option and its note in the output. */
import { UsageError } from './errors.js';

const dryRunModes = ['none', 'client', 'server'] as const;
export type DryRunMode = (typeof dryRunModes)[number];

/** The mode of `--dry-run[=MODE]`: `client` without a value. Throws `UsageError`. */
export function dryRunMode(value: string | true | undefined): DryRunMode {
  if (value === undefined) return 'none';
  if (value === true) return 'client';
  const known = dryRunModes.find((mode) => mode === value);
  if (!known) {
    throw new UsageError(`--dry-run: want one of ${dryRunModes.join(', ')}, got ${value}`);
  }
  return known;
}

/** The suffix of the line about an object. */
export function dryRunNote(mode: DryRunMode): string {
  if (mode === 'client') return ' (dry run)';
  return mode === 'server' ? ' (server dry run)' : '';
}
