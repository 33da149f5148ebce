import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createLogger, Metrics, systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import type { AuditSink } from './audit-backend.js';
import { AuditMetrics } from './audit-metrics.js';
import { BatchBackend, type BatchOptions } from './batch-backend.js';
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

/** Records the ids of written events, batch by batch. */
class RecordingSink implements AuditSink {
  readonly name = 'recording';
  readonly batches: string[][] = [];
  result: Promise<void> = Promise.resolve();

  write(events: readonly AuditEvent[]): Promise<void> {
    this.batches.push(events.map(({ auditID }) => auditID));
    return this.result;
  }

  async close(): Promise<void> {
    // Nothing is held.
  }
}

describe('a batch backend', () => {
  function stage(settings: Partial<BatchOptions> = {}) {
    const sink = new RecordingSink();
    const clock = new TestClock();
    const { report, lost } = reporting();
    const all = { bufferSize: 3, maxSize: 2, maxWaitMs: 1_000, throttle: undefined, ...settings };
    const backend = new BatchBackend(sink, all, clock, report);
    const take = (...ids: string[]) => {
      for (const id of ids) backend.take(event(id));
    };
    return { sink, clock, lost, backend, take };
  }

  it('writes a batch when it is full and when its wait is over', async () => {
    const { sink, clock, take } = stage();
    take('a', 'b', 'c');
    expect(sink.batches).toEqual([['a', 'b']]);
    await clock.advance(999);
    expect(sink.batches).toHaveLength(1);
    await clock.advance(1);
    expect(sink.batches).toEqual([['a', 'b'], ['c']]);
  });
  it('limits the rate of batches', async () => {
    const { sink, clock, take } = stage({ maxSize: 1, throttle: { qps: 2, burst: 1 } });
    take('a', 'b', 'c');
    expect(sink.batches).toEqual([['a']]);
    await clock.advance(500);
    expect(sink.batches).toEqual([['a'], ['b']]);
    await clock.advance(500);
    expect(sink.batches).toEqual([['a'], ['b'], ['c']]);
  });
  it('reports events as lost when the buffer is full', () => {
    const { sink, lost, take } = stage({ maxSize: 1, maxWaitMs: 0, runningMax: 1 });
    sink.result = new Promise(() => undefined);
    take('in flight', 'a', 'b', 'c', 'too many');
    expect(lost.mock.calls).toEqual([['recording', 1]]);
  });
  it('counts every event of a batch that fails', async () => {
    const { sink, lost, take } = stage();
    sink.result = Promise.reject(new Error('down'));
    take('a', 'b');
    await vi.waitFor(() => expect(lost.mock.calls).toEqual([['recording', 2]]));
  });
  it('writes batches that are not full when it stops', async () => {
    const { sink, backend, take } = stage({ throttle: { qps: 1, burst: 1 } });
    take('a', 'b', 'c');
    await backend.stop();
    expect(sink.batches).toEqual([['a', 'b'], ['c']]);
  });
});

describe('a truncating sink', () => {
  it('removes objects, then drops events, and splits batches', async () => {
    const sink = new RecordingSink();
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
    expect(lost.mock.calls).toEqual([['recording', 1]]);
  });
});

describe('the legacy format', () => {
  it('is one line of quoted fields', () => {
    const complete = event('id', {
      sourceIPs: ['192.0.2.1'],
      userAgent: 'a "quoted" agent',
      objectRef: { namespace: 'shop' },
      responseStatus: { metadata: {}, code: 200 },
    });
    expect(legacyLineOf(complete)).toBe(
      '2021-05-01T00:00:00.000000Z AUDIT: id="id" stage="RequestReceived" ip="192.0.2.1" method="list" user="ann" groups="\\"a\\",\\"b\\"" as="<self>" asgroups="<lookup>" user-agent="a \\"quoted\\" agent" namespace="shop" uri="/api/v1/pods" response="200"',
    );
    expect(legacyLineOf(event('id', { user: {} }))).toContain(
      'ip="<unknown>" method="list" user="<none>" groups="<none>"',
    );
  });
});

describe('a rotating file', () => {
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

  it('rotates before it exceeds its size and leaves unrelated files alone', async () => {
    writeFileSync(join(directory, 'audit-notes.log'), 'mine');
    expect(await rotated({})).toEqual([
      'audit-2021-05-01T00-00-01.000.log',
      'audit-2021-05-01T00-00-02.000.log',
      'audit-notes.log',
      'audit.log',
    ]);
    expect(readFileSync(join(directory, 'audit.log'), 'utf8')).toBe('third\n4\n');
  });
  it('deletes backups beyond the maximum count and compresses the others if configured', async () => {
    const files = await rotated({ backupCountMax: 1, compress: true });
    expect(files).toEqual(['audit-2021-05-01T00-00-02.000.log.gz', 'audit.log']);
    expect(gunzipSync(readFileSync(join(directory, files[0]!))).toString()).toBe('second\n');
  });
  it('deletes backups beyond the maximum age', async () => {
    expect(await rotated({ ageMs: 500 })).toEqual([
      'audit-2021-05-01T00-00-02.000.log',
      'audit.log',
    ]);
  });
  it('writes events that arrive during a write together with the next write, in order', async () => {
    const texts: string[] = [];
    let resume: () => void = () => undefined;
    const output = {
      async write(lines: string) {
        texts.push(lines);
        if (texts.length === 1) await new Promise<void>((resolve) => (resume = resolve));
      },
      close: () => Promise.resolve(),
    };
    const sink = new LogSink(output, 'json');
    const first = sink.write([event('a')]);
    await vi.waitFor(() => expect(texts).toHaveLength(1));
    const others = [sink.write([event('b')]), sink.write([event('c')])];
    resume();
    await Promise.all([first, ...others]);
    expect(texts).toEqual([
      `${jsonOf(event('a'))}\n`,
      `${jsonOf(event('b'))}\n${jsonOf(event('c'))}\n`,
    ]);
  });
});
