/** Admission rules of single kinds as plugins, with a reader of stored objects for them. */
import { timeout } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { type AdmissionPlugin, type AdmissionRequest, objectOf } from '@orch/registry';
import type { RequestAttributes, User } from '@orch/security';
import type { ObjectOfKind } from './kind-types.js';
import type { PluginDeclaration, PluginDependencies } from './plugin.js';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  admits,
  type ObjectReader,
  type Permission,
} from './rule.js';

export interface RulePlugin extends PluginDeclaration {
  readonly rule: AdmissionRule;
}

export function rulePlugin(rule: AdmissionRule): RulePlugin {
  const { name, isDefault } = rule;
  return { name, isDefault, rule, create: (dependencies) => createPlugin(rule, dependencies) };
}

/** A plugin whose rule needs more than its context. */
export function rulePluginWith(
  { name, isDefault }: Pick<PluginDeclaration, 'name' | 'isDefault'>,
  createRule: (dependencies: PluginDependencies) => AdmissionRule,
): PluginDeclaration {
  return {
    ...{ name, isDefault },
    create: (dependencies) => createPlugin(createRule(dependencies), dependencies),
  };
}

function createPlugin(rule: AdmissionRule, dependencies: PluginDependencies): AdmissionPlugin {
  const { mutate, validate } = rule;
  const run = (work: NonNullable<AdmissionRule['mutate']>) => (request: AdmissionRequest) =>
    work.call(rule, targetOf(request), contextOf(dependencies, request));
  return {
    name: rule.name,
    handles: ({ served: { definition }, operation, subresource }) => {
      const { stored, plural } = definition;
      return admits(rule, { groupHead: stored.group, plural, operation, subresource });
    },
    ...(mutate && { mutate: run(mutate) }),
    ...(validate && { validate: run(validate) }),
  };
}

function contextOf(
  dependencies: PluginDependencies,
  { context }: AdmissionRequest,
): AdmissionContext {
  const { clock, random, authorize } = dependencies;
  const { deadlineMs, user, features, dryRun } = context;
  const decide = async (permission: Permission, by: User) =>
    authorize({ user: by, info: attributesOf(permission) });
  return {
    user,
    dryRun,
    reader: new StoredObjectReader(dependencies, deadlineMs),
    allows: async (permission) => (await decide(permission, user)).verdict === 'allow',
    decide,
    deadlineMs,
    features,
    random,
    wait: (delayMs) =>
      new Promise((resolve, reject) => {
        if (clock.monotonicMs() + delayMs > deadlineMs) {
          reject(timeout('admission did not end in time'));
        } else clock.setTimer(delayMs, resolve);
      }),
  };
}

function attributesOf(permission: Permission): RequestAttributes {
  const { verb, groupHead, plural, name } = permission;
  const { version = '*', namespace = '', subresource = '' } = permission;
  return {
    isResource: true,
    verb,
    path: '',
    group: dialect().group(groupHead),
    version,
    namespace,
    resource: plural,
    subresource,
    name,
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

/** Memory is read first; that an object is missing is confirmed by a quorum read. */
class StoredObjectReader implements ObjectReader {
  constructor(
    private readonly dependencies: PluginDependencies,
    private readonly deadlineMs: number,
  ) {}

  async get<Head extends string, Plural extends string>(
    groupHead: Head,
    plural: Plural,
    namespace: string,
    name: string,
  ): Promise<ObjectOfKind<Head, Plural> | undefined> {
    const { store, table } = this.dependencies;
    const resource = table.stored(groupHead, plural);
    if (!resource) return undefined;
    const key = resource.key(namespace, name);
    for (const kind of ['any', 'quorum'] as const) {
      const { entry } = await store.get(key, { consistency: { kind }, timeoutMs: this.leftMs() });
      if (entry) return objectOf<ObjectOfKind<Head, Plural>>(entry);
    }
    return undefined;
  }

  async list<Head extends string, Plural extends string>(
    groupHead: Head,
    plural: Plural,
    namespace = '',
  ): Promise<readonly ObjectOfKind<Head, Plural>[]> {
    const { store, table } = this.dependencies;
    const resource = table.stored(groupHead, plural);
    if (!resource) return [];
    const { entries } = await store.list(resource.prefix(namespace), {
      consistency: { kind: 'any' },
      timeoutMs: this.leftMs(),
    });
    return entries.map(objectOf<ObjectOfKind<Head, Plural>>);
  }

  private leftMs(): number {
    return Math.max(1, this.deadlineMs - this.dependencies.clock.monotonicMs());
  }
}
