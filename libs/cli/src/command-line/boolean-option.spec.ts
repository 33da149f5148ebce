import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { booleanOption } from './boolean-option.js';
import { UsageError } from './errors.js';

function waitOf(...args: string[]): unknown {
  const command = new Command()
    .option('--wait [boolean]', 'wait', booleanOption('--wait'), true)
    .argument('[names...]')
    .exitOverride();
  command.parse(args, { from: 'user' });
  return command.opts().wait;
}

describe('booleanOption', () => {
  it('has its default, true without a value, or its given value', () => {
    expect(waitOf()).toBe(true);
    expect(waitOf('pod', '--wait')).toBe(true);
    expect(waitOf('--wait=false', 'pod')).toBe(false);
    expect(waitOf('--wait=true')).toBe(true);
  });

  it('rejects other words', () => {
    expect(() => waitOf('--wait=maybe')).toThrow(UsageError);
    expect(() => waitOf('--wait', 'pod')).toThrow(/--wait=true or --wait=false, got pod/);
  });
});
