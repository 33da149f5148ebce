/**
 * Limits required pod anti-affinity to the node topology, so that no pod can claim a whole zone.
 */
import { dialect } from '@orch/component';
import { forbiddenTarget, type WriteRule } from '../rule.js';

export const antiAffinityTopology: WriteRule<'core/pods'> = {
  name: 'LimitPodHardAntiAffinityTopology',
  isDefault: false,
  kinds: ['core/pods'],
  operations: ['CREATE', 'UPDATE'],
  subresource: '',

  validate(target) {
    const { podAntiAffinity } = target.object.spec?.affinity ?? {};
    const allowed = dialect().key('hostname');
    for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
      if (term.topologyKey === allowed) continue;
      throw forbiddenTarget(
        target,
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${term.topologyKey} but only key ${allowed} is allowed`,
      );
    }
  },
};
