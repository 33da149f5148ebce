/**
 * Runs the enabled controllers on shared informers: builds them, waits until the informers have
 * synced, runs them, and stops them in order. Each controller has its own rate limit.
 */
import { setMaxListeners } from 'node:events';
import { type ApiClient, EventRecorder, InformerFactory } from '@orch/client';
import type { Clock, Features, Logger, Metrics } from '@orch/component';
import type { Controller, ControllerContext } from '../common/controller.js';
import { DefinitionWatch } from '../common/definition-watch.js';
import { type ControllersOptions, isControllerEnabled } from '../common/options.js';
import { limits } from '../limits.js';
import { AccountClients } from './account-clients.js';
import { watchClock } from './clock-watch.js';
import { type DebugView, debugView } from './debug-view.js';
import { controllers } from './registry.js';
import { hasAccount } from './service-accounts.js';

export interface ControllerManagerDependencies {
  /** The identity of the manager: reads through informers, and fills token secrets. */
  readonly client: ApiClient;
  /**
   * A client without credentials, with which each controller uses a token of its own service
   * account. `stop` closes it. Undefined: controllers use `client`.
   */
  readonly anonymousClient?: ApiClient;
  /** PEM certificate authority of the API server, to publish for pods; undefined publishes none. */
  readonly authorityPem: string | undefined;
  /** Rate limit of each controller, in requests per second. */
  readonly qps: number;
  readonly burst: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly features: Features;
  readonly random: () => number;
}

export class ControllerManager {
  private readonly stopping = new AbortController();
  private readonly recorders = new Map<string, EventRecorder>();
  private accounts: AccountClients | undefined;
  private informers: InformerFactory | undefined;
  private definitions: DefinitionWatch | undefined;
  private readonly built = new Map<string, Controller>();
  private running: Promise<unknown> | undefined;

  /** Throws if the options name a controller that does not exist. */
  constructor(
    private readonly dependencies: ControllerManagerDependencies,
    private readonly options: ControllersOptions,
  ) {
    const names = new Set(['*', ...Object.keys(controllers)]);
    const unknown = options.controllers.filter((name) => !names.has(name.replace(/^-/, '')));
    if (unknown.length > 0) {
      throw new Error(
        `--controllers: unknown controller ${unknown.join(', ')}; use: ${[...names].join(', ')}`,
      );
    }
  }

  /** Resolves when the controllers run; rejects if the informers do not sync in time. */
  async start(): Promise<void> {
    const { client, logger, clock, random } = this.dependencies;
    // Every queue, timer and watch of every controller listens to it.
    setMaxListeners(limits.stopListenerCountMax, this.stopping.signal);
    const enabled = Object.entries(controllers).filter(([name]) =>
      isControllerEnabled(name, this.options.controllers),
    );
    await this.startAccounts(enabled.map(([name]) => name).filter(hasAccount));
    if (this.stopping.signal.aborted) return;
    const informers = new InformerFactory({
      client: client.derive({ qps: 0 }),
      logger,
      clock,
      random,
      resyncPeriodMs: this.options.minResyncPeriodMs * (1 + random()),
    });
    this.informers = informers;
    this.definitions = new DefinitionWatch({ client, clock, logger, random });
    for (const [name, build] of enabled) {
      const controller = build(this.contextFor(name, informers, this.definitions), this.options);
      if (controller) this.built.set(name, controller);
    }
    informers.start();
    await informers.whenSynced(limits.syncTimeoutMs);
    if (this.stopping.signal.aborted) return;
    const recorder = this.recorderFor(undefined, 'controllermanager');
    this.running = Promise.all([
      watchClock({ clock, logger, recorder }, this.stopping.signal),
      ...[...this.built].map(([name, controller]) => this.runController(name, controller)),
    ]);
    logger.info({ controllers: [...this.built.keys()] }, 'controllers are running');
  }

  /** Returns the content of queues and caches; undefined before `start`. */
  view(): DebugView | undefined {
    return this.informers && debugView(this.built, this.informers.view());
  }

  /** Completes the reconciliations in flight; writes nothing afterwards. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the controller manager is stopped'));
    await this.running;
    await this.informers?.stop();
    await Promise.all([...this.recorders.values()].map((recorder) => recorder.stop()));
    await this.dependencies.anonymousClient?.close();
  }

  /** Obtains the tokens of the controllers, if they use their own service accounts. */
  private async startAccounts(names: readonly string[]): Promise<void> {
    const { anonymousClient, client, clock, logger, random } = this.dependencies;
    if (!anonymousClient) return;
    const { signal } = this.stopping;
    // At most two requests for each controller: a rate limit would only delay the start.
    const dependencies = { client: client.derive({ qps: 0 }), clock, logger, random, signal };
    this.accounts = new AccountClients(anonymousClient, dependencies);
    try {
      await this.accounts.start(names);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  private async runController(name: string, controller: Controller): Promise<void> {
    await controller.run(this.stopping.signal);
    if (!this.stopping.signal.aborted) throw new Error(`controller ${name} ended unexpectedly`);
  }

  private contextFor(
    name: string,
    informers: InformerFactory,
    definitions: DefinitionWatch,
  ): ControllerContext {
    const { authorityPem, logger, metrics, clock, features, random } = this.dependencies;
    return {
      client: this.clientFor(name),
      informers,
      definitions,
      authorityPem,
      recorder: (component) => this.recorderFor(name, component),
      logger: logger.child({ controller: name }),
      metrics,
      clock,
      features,
      random,
    };
  }

  /** `name` undefined: the client of the manager itself. */
  private clientFor(name: string | undefined): ApiClient {
    const { client, qps, burst } = this.dependencies;
    if (name === undefined || !hasAccount(name)) return client.derive({ qps, burst });
    return this.accounts?.clientFor(name, { qps, burst }) ?? client.derive({ qps, burst });
  }

  private recorderFor(name: string | undefined, component: string): EventRecorder {
    const { logger, clock, random } = this.dependencies;
    const key = `${name ?? ''}/${component}`;
    let recorder = this.recorders.get(key);
    if (!recorder) {
      const client = this.clientFor(name);
      recorder = new EventRecorder({ client, component, logger, clock, random });
      this.recorders.set(key, recorder);
    }
    return recorder;
  }
}
