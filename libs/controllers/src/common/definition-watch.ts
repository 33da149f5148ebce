/**
 * Watches what may change the served resources: the definitions of custom resources and the API
 * services. Only their metadata, because the schemas of definitions are large; once for all
 * controllers.
 */
import {
  type ApiClient,
  type ApiObject,
  type KnownResource,
  Reflector,
  resources,
} from '@orch/client';
import type { Clock, Logger } from '@orch/component';

/** A changed definition is served within this time; changes within it are reported together. */
const settleMs = 500;

export interface DefinitionWatchDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
}

export class DefinitionWatch {
  private readonly listeners = new Set<() => void>();
  private running: AbortController | undefined;
  private isPending = false;

  constructor(private readonly dependencies: DefinitionWatchDependencies) {}

  /**
   * Calls `onChange` after changes until `signal` aborts; also once for the existing definitions.
   */
  subscribe(signal: AbortSignal, onChange: () => void): void {
    if (signal.aborted) return;
    this.listeners.add(onChange);
    signal.addEventListener('abort', () => this.unsubscribe(onChange), { once: true });
    this.changed();
    this.running ??= this.start();
  }

  private unsubscribe(listener: () => void): void {
    this.listeners.delete(listener);
    if (this.listeners.size > 0) return;
    this.running?.abort(new Error('nothing needs the definitions'));
    this.running = undefined;
  }

  private changed(): void {
    if (this.isPending) return;
    this.isPending = true;
    this.dependencies.clock.setTimer(settleMs, () => {
      this.isPending = false;
      for (const listener of this.listeners) listener();
    });
  }

  private start(): AbortController {
    const { client, clock, logger, random } = this.dependencies;
    const running = new AbortController();
    const changed = () => this.changed();
    const definitions: readonly KnownResource<ApiObject>[] = [
      resources.customResourceDefinitions,
      resources.apiServices,
    ];
    for (const resource of definitions) {
      const reflector = new Reflector<ApiObject>({
        source: client.derive({ qps: 0 }).metadata(resource),
        selection: {},
        sink: { replace: changed, set: changed, delete: changed },
        logger: logger.child({ resource: resource.plural }),
        clock,
        random,
      });
      void reflector.run(running.signal);
    }
    return running;
  }
}
