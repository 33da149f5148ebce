/** Runs the work of a component while its process is the leader. */
import {
  exitCodes,
  type HealthChecks,
  type LeaderElectionOptions,
  type Lifecycle,
  type Logger,
  type Metrics,
} from '@orch/component';
import type { ApiClient } from '../rest/api-client.js';
import { AnnouncedHolder } from './announced-holder.js';
import { createLock } from './create-lock.js';
import { electionOfFlags } from './election-of-flags.js';
import { LeaderElector } from './leader-elector.js';

/**
 * How long a lease may have ended before the process that should have stepped down is unhealthy.
 */
const renewalToleranceMs = 20_000;

export interface ElectedComponentDependencies {
  /** Names the lease unless a flag does. */
  readonly component: string;
  readonly client: ApiClient;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly health: HealthChecks;
  readonly lifecycle: Lifecycle;
  /** The URL at which this process serves, for clients that look for the leader. */
  readonly servingUrl?: string | undefined;
  /** Starts the work; a rejection ends the process. */
  readonly start: () => Promise<void> | void;
  /** Completes the work in flight; nothing is written afterwards. */
  readonly stop: () => Promise<void> | void;
}

/**
 * Starts the work when this process leads, or immediately without election. A process that loses
 * the leadership exits immediately with its own exit code and is restarted by its supervisor:
 * within the last seconds of the lease another process may start to act.
 */
export function startElectedComponent(
  options: LeaderElectionOptions,
  dependencies: ElectedComponentDependencies,
): void {
  const { component, client, logger, metrics, health, lifecycle, start, stop } = dependencies;
  const lead = () => {
    Promise.resolve()
      .then(start)
      .catch((error: unknown) => lifecycle.fail(error));
  };
  if (!options.enabled) {
    announce(options, dependencies);
    lifecycle.onStop(component, stop);
    lead();
    return;
  }
  const elector = new LeaderElector({
    // Renewals do not wait for the rate limit of other requests.
    client: client.derive({ qps: 0 }),
    ...electionOfFlags(options, component),
    servingUrl: dependencies.servingUrl,
    logger,
    metrics,
    onStartedLeading: lead,
    onLost: () => {
      logger.fatal({}, 'the leadership was lost');
      process.exit(exitCodes.leadershipLost);
    },
    onNewLeader: (leader) => logger.info({ leader }, 'observed a new leader'),
  });
  health.add({ name: 'leaderElection', run: () => elector.checkRenewal(renewalToleranceMs) });
  elector.start();
  lifecycle.onStop('leader election', () => elector.stop());
  // Registered last, so that it runs first: the lease is released after the work has stopped.
  lifecycle.onStop(component, stop);
}

/** Names the process in its lock object, for clients that look for it. */
function announce(
  options: LeaderElectionOptions,
  { component, client, logger, lifecycle, servingUrl }: ElectedComponentDependencies,
): void {
  const { namespace, name, identity } = electionOfFlags(options, component);
  const { resourceLock } = options;
  const own = client.derive({ qps: 0 });
  const lock = createLock({ client: own, resourceLock, namespace, name, servingUrl });
  const holder = new AnnouncedHolder({ lock, identity, logger });
  holder.start();
  lifecycle.onStop('lock object', () => holder.stop());
}
