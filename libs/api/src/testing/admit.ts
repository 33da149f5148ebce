/** Runs the admission rules on an object, over stored objects that the test names. */
import { StatusError } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type {
  AdmissionContext,
  AdmissionRule,
  AdmissionTarget,
  Permission,
} from '../admission/admission-rule.js';
import { defaultAdmissionRules } from '../admission/rules.js';
import type { ApiObject } from '../definition.js';
import { features } from './write.js';

/** By `head/plural/namespace/name`. */
export type StoredObjects = Readonly<Record<string, object>>;

export interface Admitting {
  readonly objects?: StoredObjects;
  readonly groupHead?: string;
  readonly plural?: string;
  readonly subresource?: string;
  /** Present: it is an update. */
  readonly old?: ApiObject;
  readonly allows?: (permission: Permission) => boolean;
  readonly rules?: readonly AdmissionRule[];
}

function contextOf({ objects = {}, allows = () => true }: Admitting): AdmissionContext {
  return {
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
    allows: async (permission) => allows(permission),
    features,
    random: () => 0,
    wait: async () => undefined,
  };
}

/** Changes `object` as the rules do. Throws what they refuse with. */
export async function admit(object: ApiObject, admitting: Admitting = {}): Promise<void> {
  const { groupHead = 'core', plural = 'pods', subresource = '', old } = admitting;
  const target: AdmissionTarget = {
    operation: old ? 'UPDATE' : 'CREATE',
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
  const { rules = defaultAdmissionRules } = admitting;
  for (const rule of rules) await rule.mutate?.(target, context);
  for (const rule of rules) await rule.validate?.(target, context);
}

/** The message of the 403 that `run` ends with. */
export async function refusalOf(run: Promise<void>): Promise<string> {
  try {
    await run;
  } catch (error) {
    if (error instanceof StatusError && error.code === 403) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}
