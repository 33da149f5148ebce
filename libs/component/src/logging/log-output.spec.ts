import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LogOutput } from './log-output.js';

describe('LogOutput', () => {
  it('writes lines immediately', () => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-log-'));
    const fd = openSync(join(directory, 'log'), 'a');
    try {
      const output = new LogOutput(fd);
      output.write('one\n');
      output.write('two\n');
      output.check();
      expect(readFileSync(join(directory, 'log'), 'utf8')).toBe('one\ntwo\n');
    } finally {
      closeSync(fd);
      rmSync(directory, { recursive: true });
    }
  });

  it.runIf(process.platform === 'linux')('reports a full disk, and continues', () => {
    const fd = openSync('/dev/full', 'a');
    try {
      const output = new LogOutput(fd);
      output.check();
      for (let line = 0; line < 3; line += 1) output.write('lost\n');
      expect(() => output.check()).toThrow(/^cannot write the log: ENOSPC/);
    } finally {
      closeSync(fd);
    }
  });

  it.runIf(process.platform === 'linux')('writes the held lines when there is space', () => {
    const directory = mkdtempSync(join(tmpdir(), 'orch-log-'));
    const fd = openSync('/dev/full', 'a');
    try {
      const output = new LogOutput(fd);
      output.write('held\n');
      expect(() => output.check()).toThrow('ENOSPC');
      // The same descriptor now refers to a file with space.
      closeSync(fd);
      expect(openSync(join(directory, 'log'), 'a')).toBe(fd);
      output.check();
      output.write('next\n');
      expect(readFileSync(join(directory, 'log'), 'utf8')).toBe('held\nnext\n');
    } finally {
      closeSync(fd);
      rmSync(directory, { recursive: true });
    }
  });
});
