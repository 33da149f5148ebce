/** The registry over a store that is a map, for creates and updates without a server. */
import { type ApiObject, definitions } from '@orch/api';
import { createLogger, FeatureGates, Metrics, systemClock } from '@orch/component';
import type { Entry, Operation, Revision } from '@orch/store';
import fc from 'fast-check';
import { admissionPlugins } from '../../../libs/admission/src/plugins.js';
import { Admission } from '../../../libs/registry/src/admission/admission.js';
import { AdmissionMetrics } from '../../../libs/registry/src/admission/admission-metrics.js';
import { Registry, type RegistryDependencies } from '../../../libs/registry/src/store/registry.js';
import type { UpdateStrategy } from '../../../libs/registry/src/store/update-strategy.js';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { ResourceTable } from '../../../libs/registry/src/table/resource-table.js';
import type { WriteContext } from '../../../libs/registry/src/write-context.js';
import { authenticatedUsers } from '../../../libs/security/src/authorization/authenticated-authorizer.js';

type Put = Extract<Operation, { kind: 'put' }>;

/** They need objects that this registry does not have: namespaces and service accounts. */
const disabledPlugins = new Set([
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionWebhook',
  'ServiceAccount',
  'NamespaceLifecycle',
  'ResourceQuota',
]);
const clock = { ...systemClock, nowMs: () => Date.parse('2026-01-02T03:04:05Z') };

/** A store of the last written values, without other writers. */
class MapStore {
  private readonly entries = new Map<string, Entry>();
  private revision = 0;

  async get(key: string) {
    return { entry: this.entries.get(key) };
  }

  async list(prefix: string) {
    return { entries: [...this.entries.values()].filter(({ key }) => key.startsWith(prefix)) };
  }

  async commit(operations: readonly Operation[]) {
    const keys = operations.map(({ key }) => key);
    if (new Set(keys).size < keys.length) throw new RangeError(`duplicate key in ${keys.join()}`);
    this.revision += 1;
    const entries = operations.map((operation) => {
      if (operation.kind === 'put') return this.put(operation);
      if (operation.kind === 'delete') this.entries.delete(operation.key);
      return undefined;
    });
    return { succeeded: true, entries };
  }

  private put({ key, bytes, revisionOffset }: Put): Entry {
    const revision = this.revision as Revision;
    const text = bytes.toString();
    const at = revisionOffset ?? 0;
    const stored = at === 0 ? text : text.slice(0, at) + revision + text.slice(at);
    const entry: Entry = {
      key,
      bytes: Buffer.from(stored),
      createRevision: this.entries.get(key)?.createRevision ?? revision,
      revision,
      derived: undefined,
    };
    this.entries.set(key, entry);
    return entry;
  }
}

const metrics = new Metrics();
const admissionMetrics = new AdmissionMetrics(metrics);
const newUid = () => '7f6c1d1e-9a0b-4c3d-8e5f-0a1b2c3d4e5f';
const noWebhooks = {
  webhooks: { call: () => Promise.reject(new Error('no webhooks are registered')) },
  convert: () => Promise.reject(new Error('no custom resources are defined')),
};

/** The default gates, all gates that can be enabled, and none that can be disabled. */
const gateSettings = ['default', 'on', 'off'] as const;
export type GateSetting = (typeof gateSettings)[number];
export const gateSetting: fc.Arbitrary<GateSetting> = fc.constantFrom(...gateSettings);

function featuresWith(setting: GateSetting): FeatureGates {
  const gates = new FeatureGates('apiserver');
  const value = String(setting === 'on');
  if (setting !== 'default') gates.set({ AllAlpha: value, AllBeta: value });
  return gates;
}

const tables = Object.fromEntries(
  gateSettings.map((setting) => [
    setting,
    new ResourceTable(definitions, undefined, featuresWith(setting)),
  ]),
) as Record<GateSetting, ResourceTable>;

/** An empty cluster. */
export class EmptyCluster {
  private readonly registry: Registry;

  constructor(gates: GateSetting = 'default') {
    const table = tables[gates];
    const store = new MapStore() as unknown as RegistryDependencies['store'];
    const random = () => 0.5;
    const authorize = authenticatedUsers;
    const logger = createLogger({ component: 'fuzz', format: 'text', level: 'fatal' });
    const plugins = admissionPlugins
      .filter(({ name, isDefault }) => isDefault && !disabledPlugins.has(name))
      .map(({ create }) =>
        create({
          ...{ store, table, clock, random, authorize, logger, metrics, newUid, ...noWebhooks },
          registry: () => this.registry,
        }),
      );
    this.registry = new Registry({
      store,
      table,
      clock,
      features: table.features,
      settings: {
        serviceClusterIpRanges: ['10.96.0.0/16'],
        serviceNodePortRange: { from: 30_000, to: 32_767 },
      },
      claims: { taken: () => false } as unknown as RegistryDependencies['claims'],
      admission: new Admission(plugins, clock, admissionMetrics),
      random,
      newUid,
      codecFor: () => {
        throw new Error('no custom resources are defined');
      },
    });
  }

  /** The same version of the same kind, under the gates of this registry. */
  resource({ group, version, definition }: ServedResource): ServedResource {
    return this.registry.table.find(group, version, definition.plural)!;
  }

  /** Creates `object`, which is in the stored shape and owned by the registry from now on. */
  create(served: ServedResource, object: ApiObject): Promise<Entry> {
    const namespace = object.metadata?.namespace || 'default';
    return this.registry.store(served).create(namespace, object, this.context());
  }

  /** Replaces the stored object by the result of `produce`. */
  update(
    served: ServedResource,
    { metadata }: ApiObject,
    strategy: UpdateStrategy,
    produce: (existing: ApiObject) => ApiObject,
    manager: string | undefined = 'm',
  ): Promise<Entry> {
    const key = { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
    const update = { strategy, produce, uid: '' };
    return this.registry.store(served).update(key, update, this.context(manager));
  }

  private context(manager: string | undefined = 'm'): WriteContext {
    return {
      now: '2026-01-02T03:04:05Z',
      user: { name: 'admin', uid: '', groups: [], extra: {} },
      dryRun: false,
      features: this.registry.features,
      fieldManager: manager,
      pathName: '',
      deadlineMs: clock.monotonicMs() + 60_000,
      warnings: [],
    };
  }
}
