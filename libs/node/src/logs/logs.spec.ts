import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LogQuery, readLog } from './log-reader.js';
import { rotateLog } from './log-rotation.js';
import { terminationMessage } from './termination-message.js';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-logs-'));
  path = join(directory, '0.log');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const record = (second: number, text: string, tag = 'F', stream = 'stdout') =>
  `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000000Z ${stream} ${tag} ${text}\n`;

async function read(query: Partial<LogQuery> = {}): Promise<string> {
  const source = { path, isRunning: () => false };
  const full = { follow: false, timestamps: false, ...query };
  let text = '';
  const { signal } = new AbortController();
  for await (const chunk of readLog(source, full, systemClock, signal)) text += chunk;
  return text;
}

describe('readLog', () => {
  it('returns the text of both streams and joins partial lines', async () => {
    writeFileSync(
      path,
      record(1, 'one') + record(2, 'tw', 'P') + record(2, 'o') + record(3, 'err', 'F', 'stderr'),
    );
    expect(await read()).toBe('one\ntwo\nerr\n');
    expect(await read({ tailLines: 1 })).toBe('err\n');
    expect(await read({ tailLines: 0 })).toBe('');
    expect(await read({ tailLines: 99 })).toBe('one\ntwo\nerr\n');
    expect(await read({ sinceMs: Date.parse('2026-01-01T00:00:03Z') })).toBe('err\n');
    expect(await read({ limitBytes: 6 })).toBe('one\ntw');
    expect(await read({ timestamps: true, tailLines: 1 })).toBe(
      '2026-01-01T00:00:03.000000000Z err\n',
    );
  });

  it('returns the tail of a log of many chunks', async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => record(1, `line ${index}`));
    writeFileSync(path, lines.join(''));
    expect(await read({ tailLines: 2 })).toBe('line 4998\nline 4999\n');
    expect((await read({ tailLines: 3_000 })).split('\n')).toHaveLength(3_001);
  });

  it('skips lines that are not records, and returns nothing without a file', async () => {
    writeFileSync(path, `rubbish\n${record(1, 'one')}2026-01-01T00:00:01Z stdout F unfini`);
    expect(await read()).toBe('one\n');
    rmSync(path);
    expect(await read()).toBe('');
  });

  it('follows across rotation until the container has ended', async () => {
    let running = true;
    writeFileSync(path, record(1, 'one'));
    const seen: string[] = [];
    const reader = readLog(
      { path, isRunning: () => running },
      { follow: true, timestamps: false },
      systemClock,
      new AbortController().signal,
    );
    for await (const chunk of reader) {
      seen.push(String(chunk).trim());
      if (seen.at(-1) === 'one') appendFileSync(path, record(2, 'two'));
      if (seen.at(-1) === 'two') {
        renameSync(path, `${path}.old`);
        writeFileSync(path, record(3, 'three'));
      }
      if (seen.at(-1) === 'three') {
        appendFileSync(path, record(4, 'four'));
        running = false;
      }
    }
    expect(seen).toEqual(['one', 'two', 'three', 'four']);
  });
});

it('rotates by size and retains a limited number of files', () => {
  const settings = { fileBytesMax: 10, fileCountMax: 3 };
  for (let turn = 0; turn < 5; turn += 1) {
    writeFileSync(path, `content ${turn} is long`);
    expect(rotateLog(path, settings, Date.parse('2026-01-01') + turn * 1_000)).toBe(true);
  }
  writeFileSync(path, 'short');
  expect(rotateLog(path, settings, 0)).toBe(false);
  const kept = readdirSync(directory).sort();
  expect(kept).toHaveLength(3);
  expect(readFileSync(join(directory, kept[2]!), 'utf8')).toBe('content 4 is long');
});

describe('terminationMessage', () => {
  const source = (more: object = {}) => ({
    messagePath: join(directory, 'message'),
    logPath: path,
    policy: 'File',
    exitCode: 1,
    containerCount: 1,
    ...more,
  });

  it('reads the file, truncated to the limits of container and pod', () => {
    writeFileSync(join(directory, 'message'), 'm'.repeat(10_000));
    expect(terminationMessage(source())).toHaveLength(4_096);
    expect(terminationMessage(source({ containerCount: 6 }))).toHaveLength(2_048);
  });

  it('falls back to the end of the log only after an error and if configured', () => {
    writeFileSync(path, Array.from({ length: 200 }, (_, index) => record(1, `l${index}`)).join(''));
    expect(terminationMessage(source())).toBe('');
    const fallback = { policy: 'FallbackToLogsOnError' };
    expect(terminationMessage(source({ ...fallback, exitCode: 0 }))).toBe('');
    const message = terminationMessage(source(fallback));
    expect(message.split('\n').slice(0, -1)).toHaveLength(80);
    expect(message.endsWith('l198\nl199\n')).toBe(true);
    writeFileSync(path, record(1, 'x'.repeat(3_900)));
    expect(terminationMessage(source(fallback))).toHaveLength(2_048);
  });
});
