/**
 * Scripted traces of the raft core: `core/testdata/*.txt` holds commands and everything that they
 * cause. `ORCH_REWRITE=1 npx vitest run libs/raft/src/testing/traces.spec.ts` writes what the core
 * does now into the files: read the diff before you commit it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Scenario } from '../core/testing/scenario.js';

const directory = join(import.meta.dirname, '..', 'core', 'testdata');
const files = readdirSync(directory).filter((name) => name.endsWith('.txt'));
const rewrites = process.env.ORCH_REWRITE === '1';

/** Runs each command; its trace replaces the lines between `----` and the next blank line. */
function replay(text: string): string {
  const scenario = new Scenario();
  const blocks = text.trimEnd().split(/\n\n+/);
  return `${blocks.map((block) => replayBlock(scenario, block)).join('\n\n')}\n`;
}

function replayBlock(scenario: Scenario, block: string): string {
  if (block.startsWith('#')) return block;
  const commands = block.split('\n----')[0]!;
  const traces = commands.split('\n').map((command) => scenario.run(command));
  return `${commands}\n----\n${traces.join('\n')}`;
}

describe('the scripted traces', () => {
  it('cover the protocol', () => {
    expect(files.length).toBeGreaterThanOrEqual(13);
  });

  it.each(files)('%s: the core does what the file says', (name) => {
    const path = join(directory, name);
    const expected = readFileSync(path, 'utf8');
    const actual = replay(expected);
    if (rewrites) writeFileSync(path, actual);
    else expect(actual).toBe(expected);
  });
});
