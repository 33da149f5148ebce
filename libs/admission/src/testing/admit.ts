/** Runs the admission rules on an object, with stored objects from the test. */
import type { ApiObject } from '@orch/api';
import { StatusError } from '@orch/apimachinery';
import { dialect, FeatureGates } from '@orch/component';
import { anonymousUser, type User } from '@orch/security';
import type { RulePlugin } from '../kind-rules.js';
import type { PluginDeclaration } from '../plugin.js';
import { admissionPlugins } from '../plugins.js';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  admits,
  type Permission,
} from '../rule.js';

const features = new FeatureGates('apiserver');

const isRulePlugin = (plugin: PluginDeclaration): plugin is RulePlugin => 'rule' in plugin;

const defaultRules = admissionPlugins
  .filter(isRulePlugin)
  .filter(({ isDefault }) => isDefault)
  .map(({ rule }) => rule);

/** Keyed by `head/plural/namespace/name`. */
export type StoredObjects = Readonly<Record<string, object>>;

export interface Admitting {
  readonly objects?: StoredObjects;
  readonly groupHead?: string;
  readonly plural?: string;
  readonly subresource?: string;
  /** Present for an update. */
  readonly old?: ApiObject;
  readonly allows?: (permission: Permission) => boolean;
  readonly rules?: readonly AdmissionRule[];
  readonly user?: User;
  readonly dryRun?: boolean;
  readonly deadlineMs?: number;
  readonly operation?: AdmissionTarget['operation'];
  /** The authorizer of the test; by default it decides as `allows`, for any user. */
  readonly allowsUser?: (permission: Permission, user: User) => boolean;
}

function contextOf({
  objects = {},
  allows = () => true,
  user = anonymousUser,
  dryRun = false,
  deadlineMs = Number.POSITIVE_INFINITY,
  allowsUser = allows,
}: Admitting): AdmissionContext {
  return {
    user,
    reader: {
      get: async (head, plural, namespace, name) =>
        objects[`${head}/${plural}/${namespace}/${name}`] as ApiObject | undefined,
      list: async (head, plural, namespace) => {
        const prefix = `${head}/${plural}/${namespace === undefined ? '' : `${namespace}/`}`;
        return Object.entries(objects)
          .filter(([key]) => key.startsWith(prefix))
          .map(([, object]) => object as ApiObject);
      },
    },
    dryRun,
    deadlineMs,
    allows: async (permission) => allows(permission),
    decide: async (permission, by) =>
      allowsUser(permission, by)
        ? { verdict: 'allow', reason: '' }
        : { verdict: 'no opinion', reason: '' },
    features,
    random: () => 0,
    wait: async () => undefined,
  };
}

/** Mutates `object` as the rules do. Throws their rejection. */
export async function admit(object: ApiObject, admitting: Admitting = {}): Promise<void> {
  const { groupHead = 'core', plural = 'pods', subresource = '', old } = admitting;
  const target: AdmissionTarget = {
    operation: admitting.operation ?? (old ? 'UPDATE' : 'CREATE'),
    groupHead,
    plural,
    groupResource: { group: dialect().group(groupHead), resource: plural },
    subresource,
    namespace: object.metadata?.namespace ?? 'ns',
    name: object.metadata?.name ?? '',
    object,
    old,
  };
  const context = contextOf(admitting);
  const rules = (admitting.rules ?? defaultRules).filter((rule) => admits(rule, target));
  for (const rule of rules) await rule.mutate?.(target, context);
  for (const rule of rules) await rule.validate?.(target, context);
}

/** The message of the 403 that `run` rejects with. */
export async function refusalOf(run: Promise<void>): Promise<string> {
  try {
    await run;
  } catch (error) {
    if (error instanceof StatusError && error.code === 403) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}
