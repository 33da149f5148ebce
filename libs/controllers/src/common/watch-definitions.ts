/**
 * Watches what may change the served resources: the definitions of custom resources and the API
 * services. Only their metadata, because the schemas of definitions are large.
 */
import { type ApiObject, type KnownResource, Reflector, resources } from '@orch/client';
import type { ControllerContext } from './controller.js';

/** A changed definition is served within this time; changes within it are reported together. */
const settleMs = 500;

/** Calls `onChange` after changes until `signal` aborts; also once for the existing definitions. */
export function watchDefinitions(
  { client, clock, logger, random }: ControllerContext,
  signal: AbortSignal,
  onChange: () => void,
): void {
  let isPending = false;
  const changed = () => {
    if (isPending || signal.aborted) return;
    isPending = true;
    clock.setTimer(settleMs, () => {
      isPending = false;
      if (!signal.aborted) onChange();
    });
  };
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
    void reflector.run(signal);
  }
}
