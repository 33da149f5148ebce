/** The filters of every request, in order. */
import type { Clock, Logger } from '@orch/component';
import type { ServedResource } from '@orch/registry';
import { type Authorizer, refusingUnnamed } from '@orch/security';
import type { Auditor } from '../audit/auditor.js';
import { PacedRefusals } from '../flowcontrol/paced-refusals.js';
import type { RequestGate } from '../http/request-gate.js';
import type { RequestMetrics } from '../observability/request-metrics.js';
import { account } from './account.js';
import { audit, auditUnauthenticated } from './audit.js';
import { type AuthenticationDependencies, authenticate } from './authenticate.js';
import { authorize } from './authorize.js';
import { countLongRunning } from './count-long-running.js';
import type { Filter } from './filter.js';
import { impersonate } from './impersonate.js';
import { limitConcurrency } from './limit-concurrency.js';
import {
  type AggregatedLookup,
  type ResourceLookup,
  readRequestInfo,
} from './read-request-info.js';
import { refuseAmbiguous } from './refuse-ambiguous.js';

export interface FilterDependencies extends AuthenticationDependencies {
  readonly table: ResourceLookup;
  readonly aggregated: AggregatedLookup;
  readonly hasSubresource: (served: ServedResource, subresource: string) => boolean;
  readonly authorize: Authorizer;
  readonly gate: RequestGate;
  /** Undefined: nothing is audited. */
  readonly auditor: Auditor | undefined;
  readonly metrics: RequestMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** In order: each filter sees a request before the ones below it. Undefined: not needed. */
const filters: readonly ((dependencies: FilterDependencies) => Filter | undefined)[] = [
  ({ logger }) => account(logger),
  ({ table, aggregated, hasSubresource, metrics }) =>
    readRequestInfo(table, aggregated, hasSubresource, metrics),
  () => refuseAmbiguous,
  ({ auditor }) => auditor && auditUnauthenticated(auditor),
  (dependencies) => authenticate(dependencies, dependencies.metrics.authentication),
  ({ auditor, logger }) => auditor && audit(auditor, logger),
  (dependencies) => impersonate(dependencies.authorize),
  ({ gate, metrics, clock }) => limitConcurrency(gate, metrics, new PacedRefusals(clock)),
  (dependencies) => authorize(dependencies.authorize, dependencies.metrics.authorization),
  () => countLongRunning,
];

export function requestFilters(dependencies: FilterDependencies): readonly Filter[] {
  const all = { ...dependencies, authorize: refusingUnnamed(dependencies.authorize) };
  return filters.flatMap((create) => create(all) ?? []);
}
