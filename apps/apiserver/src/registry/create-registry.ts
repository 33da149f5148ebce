/** Creates the registry with the admission plugins that the flags select. */
import { roleEscalation } from '@orch/admission';
import { converterFactory, type FollowedRoles } from '@orch/apiserver';
import { type Metrics, systemClock } from '@orch/component';
import {
  Admission,
  AdmissionMetrics,
  type ClaimIndex,
  type CustomResources,
  customCodecFor,
  customConversion,
  Registry,
  type ResourceTable,
} from '@orch/registry';
import type { Authorizer, RbacPolicy, WebhookClient } from '@orch/security';
import type { ReadWriteStore } from '@orch/store';
import type { ApiServerContext } from '../context/api-server-context.js';

export interface CreateRegistryDependencies {
  readonly context: ApiServerContext;
  readonly store: ReadWriteStore;
  readonly table: ResourceTable;
  readonly claims: ClaimIndex;
  readonly customResources: CustomResources;
  readonly webhooks: WebhookClient;
  readonly authorize: Authorizer;
  readonly policy: RbacPolicy;
  readonly roles: FollowedRoles;
  readonly metrics: Metrics;
  readonly newUid: () => string;
}

const clock = systemClock;
const random = Math.random;

export function createRegistry(dependencies: CreateRegistryDependencies): Registry {
  const { context, store, table, claims, customResources, webhooks, metrics, newUid } =
    dependencies;
  const { authorize, policy, roles } = dependencies;
  const { settings, logger } = context;
  const converterFor = converterFactory({ client: webhooks, clock, newUid, metrics });
  const convert = customConversion({ definitions: customResources, converterFor });
  const plugins = settings.admissionPlugins.map(({ create }) =>
    create({
      ...{ store, table, clock, random, authorize, logger, metrics, newUid, webhooks, convert },
      registry: () => registry,
    }),
  );
  const refresh = (deadlineMs: number) => roles.refresh(deadlineMs);
  plugins.push(roleEscalation({ policy, authorize, refresh }));
  const registry: Registry = new Registry({
    store,
    table,
    clock,
    features: table.features,
    settings: settings.clusterSettings,
    claims,
    admission: new Admission(plugins, clock, new AdmissionMetrics(metrics)),
    random,
    newUid,
    codecFor: (served) =>
      customCodecFor({ table, definitions: customResources, converterFor }, served),
  });
  return registry;
}
