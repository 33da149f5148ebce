/**
 * Runs the enabled controllers on shared informers: makes them, fills the caches, lets them work, and
 * stops them in order. Each controller has a client with a rate limit of its own.
 */
import { setMaxListeners } from 'node:events';
import { EventRecorder, InformerFactory, type RestClient } from '@orch/client';
import type { Clock, Features, Logger, Metrics } from '@orch/component';
import { limits } from '../limits.js';
import type { Controller, ControllerContext } from './controller.js';
import { type ControllersOptions, isControllerEnabled } from './options.js';
import { controllerMakers } from './registry.js';

export interface ControllerManagerParts {
  readonly client: RestClient;
  /** PEM authority of the API's certificate, for pods to check it with; undefined publishes none. */
  readonly authorityPem: string | undefined;
  /** Rate of each controller's requests. */
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
  private informers: InformerFactory | undefined;
  private running: Promise<unknown> | undefined;

  constructor(
    private readonly parts: ControllerManagerParts,
    private readonly options: ControllersOptions,
  ) {
    const known = new Set(['*', ...Object.keys(controllerMakers)]);
    const unknown = options.controllers.filter((name) => !known.has(name.replace(/^-/, '')));
    if (unknown.length > 0) {
      throw new Error(
        `--controllers: ${unknown.join(', ')} is not known, there are: ${[...known].join(', ')}`,
      );
    }
  }

  /** Resolves when the controllers work; rejects when the caches do not fill in time. */
  async start(): Promise<void> {
    const { client, logger, clock, random } = this.parts;
    const informers = new InformerFactory({
      client: client.derive({ qps: 0 }),
      logger,
      clock,
      random,
      resyncPeriodMs: this.options.minResyncPeriodMs * (1 + random()),
    });
    this.informers = informers;
    // Every queue, timer and watch of every controller listens to it.
    setMaxListeners(limits.stopListenerCountMax, this.stopping.signal);
    const controllers: [string, Controller][] = [];
    for (const [name, make] of Object.entries(controllerMakers)) {
      if (!isControllerEnabled(name, this.options.controllers)) continue;
      const controller = make(this.contextFor(name, informers), this.options);
      if (controller) controllers.push([name, controller]);
    }
    informers.start();
    await informers.whenSynced(limits.syncTimeoutMs);
    if (this.stopping.signal.aborted) return;
    this.running = Promise.all(
      controllers.map(([name, controller]) => this.runController(name, controller)),
    );
    logger.info({ controllers: controllers.map(([name]) => name) }, 'controllers are running');
  }

  /** Ends what is under way; nothing is written afterwards. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the controller manager is stopped'));
    await this.running;
    await this.informers?.stop();
    await Promise.all([...this.recorders.values()].map((recorder) => recorder.stop()));
  }

  private async runController(name: string, controller: Controller): Promise<void> {
    await controller.run(this.stopping.signal);
    if (!this.stopping.signal.aborted) throw new Error(`controller ${name} ended by itself`);
  }

  private contextFor(name: string, informers: InformerFactory): ControllerContext {
    const { client, authorityPem, qps, burst, logger, metrics, clock, features, random } =
      this.parts;
    return {
      client: client.derive({ qps, burst }),
      informers,
      authorityPem,
      recorder: (component) => this.recorderFor(component),
      logger: logger.child({ controller: name }),
      metrics,
      clock,
      features,
      random,
    };
  }

  private recorderFor(component: string): EventRecorder {
    const { client, qps, burst, logger, clock, random } = this.parts;
    let recorder = this.recorders.get(component);
    if (!recorder) {
      const own = client.derive({ qps, burst });
      recorder = new EventRecorder({ client: own, component, logger, clock, random });
      this.recorders.set(component, recorder);
    }
    return recorder;
  }
}
