import { createLogger, dialect, FatalError, Lifecycle } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { resources } from '../generated/resources.js';
import { ApiError } from '../rest/api-error.js';
import { MemoryApiClient } from '../testing/memory-api-client.js';
import { MemoryApiServer } from '../testing/memory-api-server.js';
import { followAuthentication } from './follow-authentication.js';

const name = 'extension-apiserver-authentication';

describe('followAuthentication', () => {
  let server: MemoryApiServer;
  let clock: TestClock;
  let lifecycle: Lifecycle;
  let published: string[];
  let failure: unknown;
  let isRefused: boolean;

  beforeEach(() => {
    clock = new TestClock();
    server = new MemoryApiServer({ clock });
    const logger = createLogger({ component: 'test', format: 'text', level: 'fatal' });
    lifecycle = new Lifecycle({ clock, logger, shutdownTimeoutMs: 1_000 });
    published = [];
    failure = undefined;
    isRefused = false;
  });
  afterEach(() => lifecycle.stop('end of the test'));

  const store = (clientCa: string) =>
    server.seed(resources.configMaps, {
      metadata: { name, namespace: dialect().systemNamespace },
      data: { 'client-ca-file': clientCa },
    });

  function start(toleratesLookupFailure: boolean): void {
    const client = new MemoryApiClient(server);
    const request = client.request.bind(client);
    client.request = async (...call) => {
      if (isRefused) throw new ApiError(403, 'Forbidden', 'not permitted');
      return request(...call);
    };
    followAuthentication(
      { toleratesLookupFailure },
      {
        ...{ client, clock },
        logger: createLogger({ component: 'test', format: 'text', level: 'fatal' }),
        lifecycle: {
          stopping: lifecycle.stopping,
          onStop: (step, run) => lifecycle.onStop(step, run),
          fail: (error) => {
            failure = error;
          },
        },
        publish: (data) => published.push(data['client-ca-file'] ?? ''),
      },
    );
  }

  it('publishes the config map and its changes', async () => {
    store('one');
    start(false);
    await vi.waitFor(() => expect(published).toContain('one'));
    store('two');
    await vi.waitFor(async () => {
      await clock.advance(1_000);
      expect(published.at(-1)).toBe('two');
    });
  });

  it('follows a config map that does not exist yet', async () => {
    start(false);
    await clock.advance(1_000);
    store('later');
    await vi.waitFor(async () => {
      await clock.advance(1_000);
      expect(published).toEqual(['later']);
    });
    expect(failure).toBeUndefined();
  });

  it('ends the process when the server keeps refusing', async () => {
    isRefused = true;
    start(false);
    await vi.waitFor(async () => {
      await clock.advance(5_000);
      expect(failure).toBeInstanceOf(FatalError);
    });
    expect(String(failure)).toContain('--authentication-tolerate-lookup-failure');
  });

  it('continues after a tolerated refusal, and follows when the server permits it', async () => {
    store('one');
    isRefused = true;
    start(true);
    for (let round = 0; round < 10; round += 1) await clock.advance(5_000);
    expect(published).toEqual([]);
    isRefused = false;
    await vi.waitFor(async () => {
      await clock.advance(5_000);
      expect(published).toContain('one');
    });
    expect(failure).toBeUndefined();
  });
});
