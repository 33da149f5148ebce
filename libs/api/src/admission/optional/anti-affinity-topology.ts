/** Pods keep others away from their own node only: a whole zone would be too much for one to claim. */
import { dialect } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import { type AdmissionRule, isWriteOf, refusal } from '../admission-rule.js';

export const antiAffinityTopologyRule: AdmissionRule = {
  name: 'LimitPodHardAntiAffinityTopology',
  validate(target) {
    if (!isWriteOf(target, 'core', 'pods', ['CREATE', 'UPDATE'])) return;
    const { podAntiAffinity } = (target.object as Pod).spec?.affinity ?? {};
    const allowed = dialect().key('hostname');
    for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
      if (term.topologyKey === allowed) continue;
      throw refusal(
        target,
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${term.topologyKey} but only key ${allowed} is allowed`,
      );
    }
  },
};
