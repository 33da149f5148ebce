/** Requests and hooks for specs of the webhook plugins; the spec provides the responses. */
import { type ApiObject, definitions } from '@orch/api';
import { createLogger, FeatureGates, Metrics, systemClock } from '@orch/component';
import { type AdmissionRequest, ResourceTable, type WriteContext } from '@orch/registry';
import { anonymousUser, type HttpPostResponse, type WebhookCall } from '@orch/security';
import type { MutatingWebhook } from '@orch/types/admissionregistration/v1';
import type { FollowedHooks } from '../webhooks/followed-hooks.js';
import { compileHooks } from '../webhooks/hook.js';
import { HookCaller } from '../webhooks/hook-caller.js';
import { HookSelectors } from '../webhooks/hook-selectors.js';
import { HookSet } from '../webhooks/hook-set.js';
import type { WebhookPluginDependencies } from '../webhooks/mutating-webhooks.js';
import { WebhookMetrics } from '../webhooks/webhook-metrics.js';

const features = new FeatureGates('apiserver');
export const table = new ResourceTable(definitions, undefined, features);

export function servedOf(group: string, version: string, plural: string) {
  const served = table.find(group, version, plural);
  if (!served) throw new Error(`${plural} are not served`);
  return served;
}

export const configMaps = servedOf('', 'v1', 'configmaps');

/** A webhook for creates of config maps, named after its path. */
export function webhook(name: string, fields: Partial<MutatingWebhook> = {}): MutatingWebhook {
  return {
    name,
    clientConfig: { url: `https://hook/${name}` },
    rules: [
      {
        ...{ apiGroups: [''], apiVersions: ['v1'] },
        ...{ operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] },
      },
    ],
    ...{ sideEffects: 'None', admissionReviewVersions: ['v1'], matchPolicy: 'Equivalent' },
    ...fields,
  };
}

export interface SentReview {
  readonly request: { readonly uid: string; readonly [field: string]: unknown };
}

/** Returns the response of the webhook with that name. Throws WebhookError if the call fails. */
export type Respond = (name: string, review: SentReview) => object | Promise<object>;

export interface Reviewing {
  readonly dependencies: WebhookPluginDependencies;
  /** Names of the called webhooks. */
  readonly called: string[];
  readonly metrics: Metrics;
}

export function reviewing(
  webhooks: readonly MutatingWebhook[],
  respond: Respond,
  isMutating = true,
): Reviewing {
  const called: string[] = [];
  const metrics = new Metrics();
  const call = async ({ address, body }: WebhookCall): Promise<HttpPostResponse> => {
    const name = (address.url ?? '').split('/').at(-1) ?? '';
    called.push(name);
    const review = JSON.parse(body) as SentReview & { apiVersion: string; kind: string };
    const { apiVersion, kind, request } = review;
    const fields = await respond(name, review);
    const response = { uid: request.uid, allowed: true, ...fields };
    const text = JSON.stringify({ apiVersion, kind, response });
    return { statusCode: 200, contentType: '', retryAfterSeconds: undefined, text };
  };
  let uid = 0;
  const caller = new HookCaller({
    client: { call },
    credentialsFor: () => undefined,
    metrics: new WebhookMetrics(metrics, isMutating ? 'admit' : 'validating'),
    clock: systemClock,
    newUid: () => `uid-${uid++}`,
    logger: createLogger({ component: 'test', format: 'text', level: 'fatal' }),
    isMutating,
  });
  const store = {} as ConstructorParameters<typeof HookSelectors>[0]['store'];
  const current = new HookSet(compileHooks({ metadata: { name: 'c' }, webhooks: [...webhooks] }));
  return {
    dependencies: {
      hooks: { current } as FollowedHooks,
      caller,
      selectors: new HookSelectors({ store, table, clock: systemClock }),
      table,
      convert: () => Promise.reject(new Error('no custom resources')),
    },
    called,
    metrics,
  };
}

/** A create of a config map. */
export function createRequest(
  object: ApiObject & { data?: Record<string, string> },
  context: Partial<WriteContext> = {},
): AdmissionRequest {
  return {
    operation: 'CREATE',
    served: configMaps,
    namespace: 'default',
    name: object.metadata?.name ?? '',
    subresource: '',
    object: { apiVersion: 'v1', kind: 'ConfigMap', ...object } as ApiObject,
    old: undefined,
    context: {
      ...{ now: '', user: anonymousUser, dryRun: false, features, fieldManager: undefined },
      ...{ pathName: '', deadlineMs: Number.POSITIVE_INFINITY, warnings: [] },
      ...context,
    },
  };
}

/** A patch as webhooks send it. */
export function patchOf(...operations: object[]): object {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { patchType: 'JSONPatch', patch };
}
