/** Each check fails when the part that it names fails, and only then. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { definitions } from '@orch/api';
import type { FlowControl } from '@orch/apiserver';
import { FeatureGates, type HealthEndpoint, healthEndpoints } from '@orch/component';
import { ResourceTable, RuntimeConfig } from '@orch/registry';
import { StoreError } from '@orch/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { TestClock } from '../../../../libs/component/src/testing/test-clock.js';
import type { BootstrapStep } from '../store/cluster-bootstrap.js';
import { type HealthDependencies, serverHealth } from './health.js';

const facts = JSON.parse(
  readFileSync(
    resolve(import.meta.dirname, '../../../../test/conformance/facts/health.json'),
    'utf8',
  ),
) as { endpoints: Record<HealthEndpoint, string[]> };

const table = new ResourceTable(
  definitions,
  new RuntimeConfig([], definitions),
  new FeatureGates('apiserver'),
);
/** The state of a server, with the parts that a test makes fail. */
class Server {
  readonly clock = new TestClock();
  readonly failed = new Set<string>();
  readonly stopping = new AbortController();
  storeError: StoreError | undefined;
  graceMs = 0;

  readonly health = () => serverHealth(this.dependencies());

  /** The names of the failing checks of an endpoint. */
  async failing(endpoint: HealthEndpoint, health = this.health()): Promise<string[]> {
    const { body } = await health.report(endpoint, { verbose: true, exclude: [] });
    return [...body.matchAll(/^\[-\](\S+) failed/gm)].map((match) => match[1]!);
  }

  private dependencies(): HealthDependencies {
    const works = (part: string) => !this.failed.has(part);
    const synced = (part: string) => ({
      get isSynced() {
        return works(part);
      },
    });
    const level = {} as FlowControl['levels'][number];
    const flowControl = {
      get levels() {
        return works('levels') ? [level] : [];
      },
    } as unknown as FlowControl;
    const options = { livezGraceMs: this.graceMs, authorization: { modes: ['Node', 'RBAC'] } };
    return {
      context: {
        lifecycle: { stopping: this.stopping.signal },
        options,
        settings: { encryption: undefined },
      } as unknown as HealthDependencies['context'],
      store: {
        status: () => ({ ready: works('quorum'), reason: 'no quorum' }),
        get: async () => {
          if (this.storeError) throw this.storeError;
          return { entry: undefined, revision: 1 };
        },
      } as unknown as HealthDependencies['store'],
      table,
      claims: synced('claims'),
      customResources: synced('definitions'),
      policy: synced('policy'),
      nodes: synced('nodes'),
      admission: synced('admission'),
      bootstrap: { isDone: (step: BootstrapStep) => works(step) },
      gate: {
        flowControl: works('flow control gate') ? flowControl : undefined,
        get isConfigured() {
          return works('flow configuration');
        },
      },
      apis: {
        ...synced('API services read'),
        find: (group, version) => (works(`${group}/${version}`) ? {} : undefined),
      } as HealthDependencies['apis'],
      documents: {
        get isReading() {
          return works('documents');
        },
      },
      clock: this.clock,
    };
  }
}

const hook = (name: string) => `poststarthook/${name}`;

describe('serverHealth', () => {
  let server: Server;

  beforeEach(() => {
    server = new Server();
  });

  it.each(healthEndpoints)('%s has the recorded checks in the recorded order', async (endpoint) => {
    const recorded = facts.endpoints[endpoint].map((name) => (name === 'store' ? 'etcd' : name));
    expect(server.health().names(endpoint)).toEqual(recorded);
    expect(await server.failing(endpoint)).toEqual([]);
    expect(await server.health().reportOne(endpoint, 'store')).toMatchObject({ body: 'ok' });
  });

  it('omits the checks of priority and fairness if it is off', () => {
    server.failed.add('flow control gate');
    const names = server.health().names('livez');
    expect(names.filter((name) => name.includes('fairness'))).toEqual([]);
    expect(names).toHaveLength(facts.endpoints.livez.length - 3);
  });

  it.each([
    ['admission', ['start-orch-apiserver-admission-initializer'], true],
    ['policy', ['generic-apiserver-start-informers'], true],
    ['claims', ['generic-apiserver-start-informers'], true],
    ['nodes', ['generic-apiserver-start-informers'], true],
    ['flow configuration', ['priority-and-fairness-config-consumer'], true],
    ['levels', ['priority-and-fairness-filter'], false],
    ['definitions', ['start-apiextensions-informers', 'crd-informer-synced'], true],
    ['custom resource definitions', ['start-apiextensions-controllers'], false],
    [
      'system objects',
      ['bootstrap-controller', 'start-cluster-authentication-info-controller'],
      false,
    ],
    ['endpoints', ['bootstrap-controller'], false],
    ['roles', ['rbac/bootstrap-roles'], false],
    ['priority classes', ['scheduling/bootstrap-system-priority-classes'], false],
    ['flow control', ['priority-and-fairness-config-producer'], false],
    [
      'API services read',
      ['start-orch-aggregator-informers', 'apiservice-wait-for-first-sync'],
      true,
    ],
    ['API services', ['apiservice-registration-controller'], false],
    ['availability', ['apiservice-status-available-controller'], false],
    ['local API services', ['orch-apiserver-autoregistration'], false],
    ['documents', ['apiservice-openapi-controller'], false],
  ])('fails while this part is missing: %s', async (part, hooks, isRead) => {
    server.failed.add(part);
    const failing = hooks.map(hook);
    expect(await server.failing('healthz')).toEqual(failing);
    expect(await server.failing('livez')).toEqual(failing);
    expect(await server.failing('readyz')).toEqual([
      ...(isRead ? ['informer-sync'] : []),
      ...failing,
    ]);
    server.failed.clear();
    expect(await server.failing('readyz')).toEqual([]);
  });

  it('names the missing API services until all were registered once', async () => {
    const health = server.health();
    server.failed.add('apps/v1').add('/v1');
    expect((await health.reportOne('readyz', 'autoregister-completion'))?.body).toBe(
      'internal server error: missing API services: v1., v1.apps\n',
    );
    server.failed.clear();
    expect(await server.failing('readyz', health)).toEqual([]);
    server.failed.add('apps/v1');
    expect(await server.failing('readyz', health)).toEqual([]);
  });

  it('is live without a quorum, even if the start is not complete, but not ready', async () => {
    server.failed.add('quorum').add('roles');
    expect(await server.failing('livez')).toEqual([]);
    expect(await server.failing('readyz')).toEqual(['etcd', hook('rbac/bootstrap-roles')]);
    expect((await server.health().reportOne('readyz', 'store'))?.body).toBe(
      'internal server error: no quorum\n',
    );
  });

  it('is not live if the store does not serve reads from memory', async () => {
    server.storeError = new StoreError('Stopped', 'the store is stopped');
    expect(await server.failing('livez')).toEqual(['etcd']);
    server.storeError = new StoreError('Unavailable', 'waiting for the state of the leader');
    expect(await server.failing('livez')).toEqual([]);
  });

  it('is live during the grace period', async () => {
    server.graceMs = 5_000;
    server.failed.add('roles');
    const health = server.health();
    expect(await server.failing('livez', health)).toEqual([]);
    await server.clock.advance(5_000);
    expect(await server.failing('livez', health)).toEqual([hook('rbac/bootstrap-roles')]);
  });

  it('is not ready while it stops', async () => {
    server.stopping.abort();
    expect(await server.failing('livez')).toEqual([]);
    expect(await server.failing('readyz')).toEqual(['shutdown']);
  });
});
