/** The registry over a store that is a map: what creates and updates do, without a server. */
import { type ApiObject, admissionRules, definitions } from '@orch/api';
import { FeatureGates, Metrics, systemClock } from '@orch/component';
import type { Entry, Operation, Revision } from '@orch/store';
import fc from 'fast-check';
import { Admission } from '../../../libs/apiserver/src/admission/admission.js';
import { kindRules } from '../../../libs/apiserver/src/admission/kind-rules.js';
import { allowAuthenticated } from '../../../libs/apiserver/src/authorization/authorizer.js';
import { AdmissionMetrics } from '../../../libs/apiserver/src/observability/admission-metrics.js';
import { createObject } from '../../../libs/apiserver/src/registry/create.js';
import type {
  RegistryParts,
  WriteContext,
} from '../../../libs/apiserver/src/registry/registry-parts.js';
import type { ServedResource } from '../../../libs/apiserver/src/registry/resource.js';
import { ResourceTable } from '../../../libs/apiserver/src/registry/resource-table.js';
import { type UpdateStrategy, updateObject } from '../../../libs/apiserver/src/registry/update.js';

type Put = Extract<Operation, { kind: 'put' }>;

/** Waits for a service account that no one makes here. */
const withoutRules = new Set(['ServiceAccount']);
const clock = { ...systemClock, nowMs: () => Date.parse('2026-01-02T03:04:05Z') };

/** Keeps what was put last; nothing is ever taken by others. */
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
    if (new Set(keys).size < keys.length) throw new RangeError(`a key twice of ${keys.join()}`);
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

const admissionMetrics = new AdmissionMetrics(new Metrics());

/** As they are without the flag; all that may be switched on, on; all that may be off, off. */
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
export class Registry {
  private readonly parts: RegistryParts;

  constructor(gates: GateSetting = 'default') {
    const table = tables[gates];
    const store = new MapStore() as unknown as RegistryParts['store'];
    const random = () => 0.5;
    const rules = admissionRules.filter(({ name }) => !withoutRules.has(name));
    this.parts = {
      store,
      table,
      clock,
      features: table.features,
      settings: {
        serviceClusterIpRanges: ['10.96.0.0/16'],
        serviceNodePortRange: { from: 30_000, to: 32_767 },
      },
      claims: { taken: () => false } as unknown as RegistryParts['claims'],
      admission: new Admission(
        kindRules({ rules, store, table, clock, random, authorizer: allowAuthenticated }),
        clock,
        admissionMetrics,
      ),
      random,
      newUid: () => '7f6c1d1e-9a0b-4c3d-8e5f-0a1b2c3d4e5f',
    };
  }

  /** The same version of the same kind, as the gates here make it. */
  resource({ group, version, definition }: ServedResource): ServedResource {
    return this.parts.table.find(group, version, definition.plural)!;
  }

  /** `object` is in the stored shape, and the registry's from now on. */
  create(served: ServedResource, object: ApiObject): Promise<Entry> {
    const namespace = object.metadata?.namespace || 'default';
    return createObject(this.parts, served, namespace, object, this.context());
  }

  /** The new object is what `produce` makes of the stored one. */
  update(
    served: ServedResource,
    { metadata }: ApiObject,
    strategy: UpdateStrategy,
    produce: (existing: ApiObject) => ApiObject,
    manager: string | undefined = 'm',
  ): Promise<Entry> {
    const target = { served, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
    return updateObject(this.parts, target, { strategy, produce, uid: '' }, this.context(manager));
  }

  private context(manager: string | undefined = 'm'): WriteContext {
    return {
      user: { name: 'admin', uid: '', groups: [], extra: {} },
      dryRun: false,
      manager,
      deadlineMs: clock.monotonicMs() + 60_000,
      warnings: [],
    };
  }
}
