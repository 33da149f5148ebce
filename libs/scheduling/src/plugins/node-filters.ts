/** Filters that look at the node alone: its name, whether it takes pods, taints, labels and ports. */
import { firstUntolerated, tolerates } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { FilterPlugin } from '../framework/plugin.js';

/** Effects that keep a pod off a node. */
const repellingEffects = ['NoSchedule', 'NoExecute'];

/** Cordoned nodes, except for pods that tolerate the taint which stands for it. */
export const nodeUnschedulable: FilterPlugin = {
  name: 'NodeUnschedulable',
  prepare(pod) {
    const taint = { key: dialect().key('unschedulable', 'node'), effect: 'NoSchedule' };
    if (tolerates(pod.tolerations, taint)) return undefined;
    const reasons = ['node(s) were unschedulable'];
    return (node) => (node.unschedulable ? reasons : undefined);
  },
};

export const nodeName: FilterPlugin = {
  name: 'NodeName',
  prepare(pod) {
    const wanted = pod.pod.spec?.nodeName;
    if (!wanted) return undefined;
    const reasons = ["node(s) didn't match the requested hostname"];
    return (node) => (node.name === wanted ? undefined : reasons);
  },
};

export const taintToleration: FilterPlugin = {
  name: 'TaintToleration',
  prepare(pod) {
    return (node) => {
      if (node.taints.length === 0) return undefined;
      const taint = firstUntolerated(node.taints, pod.tolerations, repellingEffects);
      if (!taint) return undefined;
      return [
        `node(s) had taint {${taint.key}: ${taint.value ?? ''}}, that the pod didn't tolerate`,
      ];
    };
  },
};

/** The plain node selector and the required node affinity. */
export const nodeAffinity: FilterPlugin = {
  name: 'NodeAffinity',
  prepare(pod) {
    const required = pod.requiredNodes;
    if (!required) return undefined;
    const reasons = ["node(s) didn't match Pod's node affinity/selector"];
    return (node) => (required(node) ? undefined : reasons);
  },
};

export const nodePorts: FilterPlugin = {
  name: 'NodePorts',
  prepare(pod) {
    if (pod.hostPorts.length === 0) return undefined;
    const reasons = ["node(s) didn't have free ports for the requested pod ports"];
    return (node) => (pod.hostPorts.some((port) => node.portTaken(port)) ? reasons : undefined);
  },
};
