/**
 * Runs controllers against an in-memory API server with a manual clock. Tests seed objects,
 * `settle`, and assert what a user would read from the server.
 */
import { type ApiObject, EventRecorder, InformerFactory, resources } from '@orch/client';
import { type Clock, FeatureGates, Metrics, parseOptions } from '@orch/component';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { quietLogger } from '../../../client/test/support.js';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import type { Controller, ControllerContext, ControllerFactory } from '../common/controller.js';
import { DefinitionWatch } from '../common/definition-watch.js';
import { ControllersOptions } from '../common/options.js';

export interface HarnessOptions {
  /** Flags of the controller manager, such as `--concurrent-deployment-syncs=1`. */
  readonly flags?: readonly string[];
  /** Feature gates that differ from their defaults. */
  readonly gates?: Readonly<Record<string, boolean>>;
  /** Published by the root CA controller. */
  readonly authorityPem?: string;
}

/** A settled harness stays unchanged for this many turns of the event loop. */
const stableTurnCount = 5;
const turnCountMax = 20_000;
/** After this many turns a reconciliation waits for another thread, such as for a signature. */
const quickTurnCount = 1_000;
const reflectorPauseMs = 200;

export class ControllerHarness {
  readonly clock = new TestClock();
  readonly server: MemoryApiServer;
  readonly client: MemoryApiClient;
  readonly metrics = new Metrics();
  private readonly options: ControllersOptions;
  private readonly recorders = new Map<string, EventRecorder>();
  private running: RunningControllers | undefined;
  private randomState = 1;

  constructor(
    private readonly factories: readonly ControllerFactory[],
    private readonly harnessOptions: HarnessOptions = {},
  ) {
    const random = () => this.random();
    this.server = new MemoryApiServer({ clock: this.clock, random });
    this.client = new MemoryApiClient(this.server);
    this.options = parseOptions(ControllersOptions, harnessOptions.flags ?? [], {
      program: 'harness',
      description: '',
      version: '',
    });
  }

  /** Starts the controllers and settles. Objects seeded before exist when they start. */
  async start(): Promise<void> {
    const clock: Clock = this.clock;
    const informers = new InformerFactory({
      client: this.client,
      logger: quietLogger,
      clock,
      random: () => this.random(),
    });
    const context = this.contextFor(informers);
    const controllers = this.factories.flatMap((build) => build(context, this.options) ?? []);
    informers.start();
    await informers.whenSynced(1_000);
    const stopping = new AbortController();
    const ended = Promise.all(controllers.map((controller) => controller.run(stopping.signal)));
    this.running = { controllers, informers, stopping, ended };
    await this.settle();
    // A reflector pauses between its list and its watch.
    await this.advance(reflectorPauseMs);
  }

  /** Stops the controllers as a restart of the process does; nothing is written afterwards. */
  async stop(): Promise<void> {
    const { running } = this;
    if (!running) return;
    this.running = undefined;
    running.stopping.abort(new Error('the harness is stopped'));
    await running.informers.stop();
    await running.ended;
    this.recorders.clear();
  }

  /** Waits until all queues are idle and all changes are delivered. Delayed keys stay delayed. */
  async settle(): Promise<void> {
    let stableTurns = 0;
    let requestCount = -1;
    for (let turn = 0; turn < turnCountMax; turn++) {
      await new Promise((resolve) => {
        if (turn < quickTurnCount) setImmediate(resolve);
        else setTimeout(resolve, 1);
      });
      const isStable = this.isIdle() && this.server.requests.length === requestCount;
      requestCount = this.server.requests.length;
      stableTurns = isStable ? stableTurns + 1 : 0;
      if (stableTurns >= stableTurnCount) return;
    }
    const last = this.server.requests.slice(-3).map(({ method, resource, name }) => {
      return `${method} ${resource.plural}/${name}`;
    });
    throw new Error(`the controllers do not settle; last requests: ${last.join(', ')}`);
  }

  /** Lets this time pass in one-second steps and settles after each. */
  async advance(byMs: number): Promise<void> {
    for (let leftMs = byMs; leftMs > 0; leftMs -= 1_000) {
      await this.clock.advance(Math.min(leftMs, 1_000));
      await this.settle();
    }
  }

  /** `reason: message` of all events, in the order of their creation. */
  events(): string[] {
    return this.server.list(resources.events).map(({ reason, message }) => `${reason}: ${message}`);
  }

  /** Names of the objects of a resource, sorted. */
  names(resource: Parameters<MemoryApiServer['list']>[0], namespace = ''): string[] {
    const objects: ApiObject[] = this.server.list(resource, namespace);
    return objects.map(({ metadata }) => metadata?.name ?? '').sort();
  }

  private isIdle(): boolean {
    const queues = this.running?.controllers.flatMap(({ queues }) => queues) ?? [];
    return this.server.undeliveredCount === 0 && queues.every((queue) => queue.isIdle);
  }

  private contextFor(informers: InformerFactory): ControllerContext {
    const { client, clock, metrics } = this;
    const random = () => this.random();
    return {
      client,
      informers,
      definitions: new DefinitionWatch({ client, clock, logger: quietLogger, random }),
      authorityPem: this.harnessOptions.authorityPem,
      recorder: (component) => this.recorderFor(component),
      logger: quietLogger,
      metrics,
      clock,
      features: this.features(),
      random,
    };
  }

  private features(): FeatureGates {
    const features = new FeatureGates('controller-manager');
    const gates = Object.entries(this.harnessOptions.gates ?? {});
    features.set(Object.fromEntries(gates.map(([name, enabled]) => [name, String(enabled)])));
    return features;
  }

  private recorderFor(component: string): EventRecorder {
    let recorder = this.recorders.get(component);
    if (!recorder) {
      const { client, clock } = this;
      recorder = new EventRecorder({ client, component, logger: quietLogger, clock });
      this.recorders.set(component, recorder);
    }
    return recorder;
  }

  /** A fixed sequence: names and jitter are the same in each run. */
  private random(): number {
    this.randomState = (this.randomState * 48_271) % 2_147_483_647;
    return this.randomState / 2_147_483_647;
  }
}

interface RunningControllers {
  readonly controllers: readonly Controller[];
  readonly informers: InformerFactory;
  readonly stopping: AbortController;
  readonly ended: Promise<unknown>;
}
