import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createLogger, Metrics, systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TestClock } from '../../../client/test/test-clock.js';
import type { AuditSink } from './audit-backend.js';
import { AuditMetrics } from './audit-metrics.js';
import { BatchBackend, type BatchSettings } from './batch-backend.js';
import { type AuditEvent, jsonOf, legacyLineOf } from './event.js';
import { LogSink } from './log-sink.js';
import { RotatingFile } from './rotating-file.js';
import { TruncatingSink } from './truncating-sink.js';

const logger = createLogger({
  component: 'test',
  format: 'text',
  level: 'fatal',
  write: () => undefined,
});

function event(auditID: string, more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    level: 'Metadata',
    auditID,
    stage: 'RequestReceived',
    requestURI: '/api/v1/pods',
    verb: 'list',
    user: { username: 'ann', groups: ['a', 'b'] },
    requestReceivedTimestamp: '2021-05-01T00:00:00.000000Z',
    stageTimestamp: '2021-05-01T00:00:00.000000Z',
    ...more,
  };
}

function reporting() {
  const metrics = new AuditMetrics(new Metrics(''));
  const lost = vi.spyOn(metrics, 'lost');
  return { report: { metrics, logger }, lost };
}

/** Keeps the ids of what was written, batch by batch. */
class KeptSink implements AuditSink {
  readonly name = 'kept';
  readonly batches: string[][] = [];
  answer: Promise<void> = Promise.resolve();

  write(events: readonly AuditEvent[]): Promise<void> {
    this.batches.push(events.map(({ auditID }) => auditID));
    return this.answer;
  }

  async close(): Promise<void> {
    // Nothing is held.
  }
}

describe('batches', () => {
  function stage(settings: Partial<BatchSettings> = {}) {
    const sink = new KeptSink();
    const clock = new TestClock();
    const { report, lost } = reporting();
    const all = { bufferSize: 3, maxSize: 2, maxWaitMs: 1_000, throttle: undefined, ...settings };
    const backend = new BatchBackend(sink, all, clock, report);
    const take = (...ids: string[]) => {
      for (const id of ids) backend.take(event(id));
    };
    return { sink, clock, lost, backend, take };
  }

  it('are written when they are full, and when their time is over', async () => {
    const { sink, clock, take } = stage();
    take('a', 'b', 'c');
    expect(sink.batches).toEqual([['a', 'b']]);
    await clock.advance(999);
    expect(sink.batches).toHaveLength(1);
    await clock.advance(1);
    expect(sink.batches).toEqual([['a', 'b'], ['c']]);
  });
  it('keep to their rate', async () => {
    const { sink, clock, take } = stage({ maxSize: 1, throttle: { qps: 2, burst: 1 } });
    take('a', 'b', 'c');
    expect(sink.batches).toEqual([['a']]);
    await clock.advance(500);
    expect(sink.batches).toEqual([['a'], ['b']]);
    await clock.advance(500);
    expect(sink.batches).toEqual([['a'], ['b'], ['c']]);
  });
  it('lose what does not fit into the buffer, and say so', () => {
    const { sink, lost, take } = stage({ maxSize: 1, maxWaitMs: 0, runningMax: 1 });
    sink.answer = new Promise(() => undefined);
    take('under way', 'a', 'b', 'c', 'too many');
    expect(lost.mock.calls).toEqual([['kept', 1]]);
  });
  it('that fail are counted by the event', async () => {
    const { sink, lost, take } = stage();
    sink.answer = Promise.reject(new Error('down'));
    take('a', 'b');
    await vi.waitFor(() => expect(lost.mock.calls).toEqual([['kept', 2]]));
  });
  it('are written before the end, full or not', async () => {
    const { sink, backend, take } = stage({ throttle: { qps: 1, burst: 1 } });
    take('a', 'b', 'c');
    await backend.stop();
    expect(sink.batches).toEqual([['a', 'b'], ['c']]);
  });
});

describe('truncation', () => {
  it('leaves out objects, then events, and splits batches', async () => {
    const sink = new KeptSink();
    const written: AuditEvent[] = [];
    vi.spyOn(sink, 'write').mockImplementation(async (events) => void written.push(...events));
    const { report, lost } = reporting();
    const bytes = Buffer.byteLength(jsonOf(event('small')));
    const settings = { eventBytesMax: bytes + 100, batchBytesMax: bytes * 2 };
    const truncating = new TruncatingSink(sink, settings, report);
    const objects = { requestObject: JSON.stringify('x'.repeat(200)) };
    const huge = event('huge', { requestURI: 'x'.repeat(500) });
    await truncating.write([event('small'), event('large', objects), huge]);
    expect(sink.write).toHaveBeenCalledTimes(2);
    expect(written.map(({ auditID }) => auditID)).toEqual(['small', 'large']);
    expect(written[1]).not.toHaveProperty('requestObject');
    expect(written[1]!.annotations).toEqual({ 'audit.orch.io/truncated': 'true' });
    expect(lost.mock.calls).toEqual([['kept', 1]]);
  });
});

describe('the older format', () => {
  it('is one line of quoted fields', () => {
    const told = event('id', {
      sourceIPs: ['192.0.2.1'],
      userAgent: 'a "quoted" agent',
      objectRef: { namespace: 'shop' },
      responseStatus: { metadata: {}, code: 200 },
    });
    expect(legacyLineOf(told)).toBe(
      '2021-05-01T00:00:00.000000Z AUDIT: id="id" stage="RequestReceived" ip="192.0.2.1" method="list" user="ann" groups="\\"a\\",\\"b\\"" as="<self>" asgroups="<lookup>" user-agent="a \\"quoted\\" agent" namespace="shop" uri="/api/v1/pods" response="200"',
    );
    expect(legacyLineOf(event('id', { user: {} }))).toContain(
      'ip="<unknown>" method="list" user="<none>" groups="<none>"',
    );
  });
});

describe('the file', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'orch-audit-file-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  async function rotated(more: { backupCountMax?: number; ageMs?: number; compress?: boolean }) {
    let nowMs = Date.parse('2021-05-01T00:00:00Z');
    const clock = { ...systemClock, nowMs: () => nowMs };
    const file = new RotatingFile(
      {
        path: join(directory, 'audit.log'),
        bytesMax: 10,
        backupCountMax: more.backupCountMax ?? 0,
        backupAgeMaxMs: more.ageMs ?? 0,
        compress: more.compress ?? false,
      },
      clock,
      logger,
    );
    for (const line of ['first\n', 'second\n', 'third\n', '4\n']) {
      await file.write(line);
      nowMs += 1_000;
    }
    await file.close();
    return readdirSync(directory).sort();
  }

  it('is begun anew before it grows too large, and what is not its own stays', async () => {
    writeFileSync(join(directory, 'audit-notes.log'), 'mine');
    expect(await rotated({})).toEqual([
      'audit-2021-05-01T00-00-01.000.log',
      'audit-2021-05-01T00-00-02.000.log',
      'audit-notes.log',
      'audit.log',
    ]);
    expect(readFileSync(join(directory, 'audit.log'), 'utf8')).toBe('third\n4\n');
  });
  it('has as many old ones as are wanted, compressed when wanted', async () => {
    const files = await rotated({ backupCountMax: 1, compress: true });
    expect(files).toEqual(['audit-2021-05-01T00-00-02.000.log.gz', 'audit.log']);
    expect(gunzipSync(readFileSync(join(directory, files[0]!))).toString()).toBe('second\n');
  });
  it('has no old ones beyond their age', async () => {
    expect(await rotated({ ageMs: 500 })).toEqual([
      'audit-2021-05-01T00-00-02.000.log',
      'audit.log',
    ]);
  });
  it('takes what comes during a write with the next one, in order', async () => {
    const texts: string[] = [];
    let go: () => void = () => undefined;
    const output = {
      async write(lines: string) {
        texts.push(lines);
        if (texts.length === 1) await new Promise<void>((resolve) => (go = resolve));
      },
      close: () => Promise.resolve(),
    };
    const sink = new LogSink(output, 'json');
    const first = sink.write([event('a')]);
    await vi.waitFor(() => expect(texts).toHaveLength(1));
    const others = [sink.write([event('b')]), sink.write([event('c')])];
    go();
    await Promise.all([first, ...others]);
    expect(texts).toEqual([
      `${jsonOf(event('a'))}\n`,
      `${jsonOf(event('b'))}\n${jsonOf(event('c'))}\n`,
    ]);
  });
});
