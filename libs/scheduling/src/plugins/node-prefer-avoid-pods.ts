/**
 * Scores 0 for nodes whose annotation lists the pod's controller as one to avoid. Its
 * weight in the default profile exceeds the sum of all other scores.
 */
import { controllerOf } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { type Plugin, scoreMax } from '../framework/plugin.js';

interface AvoidedController {
  readonly kind?: string;
  readonly uid?: string;
}

interface AvoidPods {
  readonly preferAvoidPods?: readonly {
    readonly podSignature?: { readonly podController?: AvoidedController };
  }[];
}

const avoidableKinds = ['ReplicationController', 'ReplicaSet'];

export const nodePreferAvoidPods: Plugin = {
  name: 'NodePreferAvoidPods',
  score({ pod }, feasible) {
    const owner = controllerOf(pod.pod);
    // All nodes have the same score for other pods.
    if (!owner || !avoidableKinds.includes(owner.kind)) return undefined;
    const key = dialect().key('preferAvoidPods', 'scheduler.alpha');
    const scores = new Float64Array(feasible.length).fill(scoreMax);
    for (const [index, { node }] of feasible.entries()) {
      const text = node?.metadata?.annotations?.[key];
      if (text !== undefined && isAvoided(owner, avoidedControllers(text))) scores[index] = 0;
    }
    return scores;
  },
};

function isAvoided(owner: AvoidedController, avoided: readonly AvoidedController[]): boolean {
  return avoided.some(({ kind, uid }) => kind === owner.kind && uid === owner.uid);
}

/** Returns no controllers if the annotation is not valid: it cannot block scheduling. */
function avoidedControllers(text: string): readonly AvoidedController[] {
  try {
    const { preferAvoidPods = [] } = JSON.parse(text) as AvoidPods;
    return preferAvoidPods.map(({ podSignature }) => podSignature?.podController ?? {});
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return [];
    throw error;
  }
}
