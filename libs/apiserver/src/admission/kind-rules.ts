/** The admission rules of the kinds as plugins, with a reader of stored objects for them. */
import type {
  AdmissionContext,
  AdmissionRule,
  AdmissionTarget,
  ApiObject,
  ObjectReader,
  Permission,
} from '@orch/api';
import { timeout } from '@orch/apimachinery';
import { type Clock, dialect } from '@orch/component';
import type { VersionedStore } from '@orch/store';
import type { Authorizer } from '../authorization/authorizer.js';
import { objectOf } from '../registry/entry-view.js';
import type { ResourceTable } from '../registry/resource-table.js';
import type { RequestInfo } from '../request/request-info.js';
import type { AdmissionPlugin, AdmissionRequest } from './admission.js';

export interface KindRulesSettings {
  readonly rules: readonly AdmissionRule[];
  readonly store: VersionedStore;
  readonly table: ResourceTable;
  readonly clock: Clock;
  readonly random: () => number;
  readonly authorizer: Authorizer;
}

/** One plugin for each rule. */
export function kindRules(settings: KindRulesSettings): AdmissionPlugin[] {
  return settings.rules.map((rule) => ({
    name: rule.name,
    ...(rule.mutate && {
      mutate: (request: AdmissionRequest) =>
        rule.mutate?.(targetOf(request), contextOf(settings, request)),
    }),
    ...(rule.validate && {
      validate: (request: AdmissionRequest) =>
        rule.validate?.(targetOf(request), contextOf(settings, request)),
    }),
  }));
}

function contextOf(
  settings: KindRulesSettings,
  { deadlineMs, context }: AdmissionRequest,
): AdmissionContext {
  const { clock, random } = settings;
  return {
    reader: new StoreReader(settings, deadlineMs),
    allows: async (permission) =>
      settings.authorizer({ user: context.user, info: infoOf(permission) }).allowed,
    features: context.features,
    random,
    wait: (delayMs) =>
      new Promise((resolve, reject) => {
        if (clock.monotonicMs() + delayMs > deadlineMs) {
          reject(timeout('admission did not end in time'));
        } else clock.setTimer(delayMs, resolve);
      }),
  };
}

function infoOf({ verb, groupHead, plural, name }: Permission): RequestInfo {
  return {
    isResource: true,
    verb,
    path: '',
    group: dialect().group(groupHead),
    version: '*',
    namespace: '',
    resource: plural,
    subresource: '',
    name,
    rest: [],
    watchPath: false,
  };
}

function targetOf(request: AdmissionRequest): AdmissionTarget {
  const { stored, plural } = request.served.definition;
  return {
    operation: request.operation,
    groupHead: stored.group,
    plural,
    groupResource: request.served.groupResource,
    subresource: request.subresource,
    namespace: request.namespace,
    name: request.name,
    object: request.object,
    old: request.old,
  };
}

/** Reads memory first; that something is missing is believed of a quorum only. */
class StoreReader implements ObjectReader {
  constructor(
    private readonly settings: KindRulesSettings,
    private readonly deadlineMs: number,
  ) {}

  async get(
    groupHead: string,
    plural: string,
    namespace: string,
    name: string,
  ): Promise<ApiObject | undefined> {
    const { store, table } = this.settings;
    const resource = table.stored(groupHead, plural);
    if (!resource) return undefined;
    const key = resource.key(namespace, name);
    for (const kind of ['any', 'quorum'] as const) {
      const { entry } = await store.get(key, { consistency: { kind }, timeoutMs: this.leftMs() });
      if (entry) return objectOf(entry);
    }
    return undefined;
  }

  async list(groupHead: string, plural: string, namespace = ''): Promise<readonly ApiObject[]> {
    const { store, table } = this.settings;
    const resource = table.stored(groupHead, plural);
    if (!resource) return [];
    const { entries } = await store.list(resource.prefix(namespace), {
      consistency: { kind: 'any' },
      timeoutMs: this.leftMs(),
    });
    return entries.map(objectOf);
  }

  private leftMs(): number {
    return Math.max(1, this.deadlineMs - this.settings.clock.monotonicMs());
  }
}
