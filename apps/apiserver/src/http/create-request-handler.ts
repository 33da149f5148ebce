/** Creates the handler of all requests from the modules of the server and the flags. */
import {
  type AggregatedApis,
  BookmarkRounds,
  PodLogMetrics,
  type RequestGate,
  RequestHandler,
  type RequestHandlerDependencies,
  RequestMetrics,
  type WatchRegistry,
} from '@orch/apiserver';
import { type Metrics, systemClock } from '@orch/component';
import type { CustomResources, Registry } from '@orch/registry';
import type { ServiceAccountTokens } from '@orch/security';
import type { ApiServerContext } from '../context/api-server-context.js';
import { NodeAgentCredentials } from '../security/node-agent-credentials.js';
import type { Security } from '../security/security.module.js';
import { openAuditor } from './open-auditor.js';

export interface CreateRequestHandlerDependencies {
  readonly context: ApiServerContext;
  readonly registry: Registry;
  readonly customResources: CustomResources;
  readonly aggregated: AggregatedApis;
  readonly security: Security;
  readonly serviceAccountTokens: ServiceAccountTokens;
  readonly gate: RequestGate;
  readonly onAuthenticated: RequestHandlerDependencies['onAuthenticated'];
  readonly revisions: RequestHandlerDependencies['watch']['revisions'];
  readonly watches: WatchRegistry;
  readonly metrics: Metrics;
  readonly paths: RequestHandlerDependencies['paths'];
}

const clock = systemClock;

/** Rejects with FatalError if a file of the flags is missing or invalid. */
export async function createRequestHandler(
  dependencies: CreateRequestHandlerDependencies,
): Promise<RequestHandler> {
  const { context, security, revisions, watches, metrics, ...passed } = dependencies;
  const { options, features, logger, lifecycle } = context;
  const nodeAgents = new NodeAgentCredentials(options, clock, logger);
  nodeAgents.start();
  lifecycle.onStop('node agent credentials', () => nodeAgents.stop());
  return new RequestHandler(
    {
      ...passed,
      ...security.authentication,
      ...security.authorization,
      metrics: new RequestMetrics(metrics, passed.gate),
      podLogs: new PodLogMetrics(metrics),
      watch: {
        ...{ clock, random: Math.random, revisions, observer: watches },
        bookmarks: new BookmarkRounds(clock),
        logger,
      },
      auditor: await openAuditor(context, metrics),
      nodeAgents,
      logger,
      clock,
    },
    {
      clock,
      features,
      requestTimeoutMs: options.requestTimeoutMs,
      compression: features.enabled('APIResponseCompression'),
      warningHeaders: features.enabled('WarningHeaders'),
      dialCluster: context.settings.egress.cluster,
      strictTransportSecurity: options.strictTransportSecurity.join('; '),
    },
  );
}
