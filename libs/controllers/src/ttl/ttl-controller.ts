/** Writes to each node how long its agent may cache secrets and config maps. */
import { isConflict, isNotFound, objectKey, resources } from '@orch/client';
import { dialect } from '@orch/component';
import { type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
import { nextStep, ttlSecondsOf } from './ttl-plan.js';

export const ttlController: ControllerFactory = (context) => {
  const nodes = context.informers.informer(resources.nodes);
  const nodeClient = context.client.resource(resources.nodes);
  let nodeCount = 0;
  let step = 0;
  const built = controller('ttlcontroller', context)
    .workers(limits.ttlWorkerCount)
    .for(resources.nodes, { delete: never });
  const resized = (change: number) => {
    const before = step;
    nodeCount += change;
    step = nextStep(step, nodeCount);
    if (step === before) return;
    context.logger.info({ ttlSeconds: ttlSecondsOf(step) }, 'the size of the cluster has changed');
    for (const node of nodes.lister.list()) built.queue.add(objectKey(node));
  };
  nodes.addHandlers({ onAdd: () => resized(1), onDelete: () => resized(-1) });

  return built.reconcile(async (name) => {
    const node = nodes.lister.get(name);
    if (!node || node.metadata?.deletionTimestamp) return done;
    const annotation = dialect().key('ttl', 'node.alpha');
    const wanted = String(ttlSecondsOf(step));
    if (node.metadata?.annotations?.[annotation] === wanted) return done;
    const { uid } = node.metadata ?? {};
    const metadata = { uid, annotations: { [annotation]: wanted } };
    // Conflict: another node has the name.
    const patch = nodeClient.patch(name, { metadata }, { type: 'strategic' });
    await ignoring(patch, isNotFound, isConflict);
    return done;
  });
};
