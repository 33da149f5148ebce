/** Filters that depend only on the node: cordon, name and ports. */
import { tolerates } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import { finalRejection, localFilter, type Plugin, rejection } from '../framework/plugin.js';
import { nodeHasNot, nodeIs } from '../framework/remedy.js';

/** Rejects cordoned nodes, except for pods that tolerate the corresponding taint. */
export const nodeUnschedulable: Plugin = {
  name: 'NodeUnschedulable',
  retryOn: ['node added', 'node changed'],
  ...localFilter((pod) => {
    const taint = { key: dialect().key('unschedulable', 'node'), effect: 'NoSchedule' };
    if (tolerates(pod.tolerations, taint)) return undefined;
    const rejected = finalRejection('node(s) were unschedulable');
    return (node) => (node.unschedulable ? rejected : undefined);
  }),
  remedies: () => [nodeIs('unschedulable (cordoned)')],
};

export const nodeName: Plugin = {
  name: 'NodeName',
  retryOn: ['node added'],
  ...localFilter((pod) => {
    const wanted = pod.pod.spec?.nodeName;
    if (!wanted) return undefined;
    const rejected = finalRejection("node(s) didn't match the requested hostname");
    return (node) => (node.name === wanted ? undefined : rejected);
  }),
  remedies: ({ pod }) => [nodeIs(`not ${pod.pod.spec?.nodeName}, which the pod requires by name`)],
};

export const nodePorts: Plugin = {
  name: 'NodePorts',
  retryOn: ['node added', 'pod removed'],
  // The ports of a pod are part of its `PodInfo`.
  preFilter: () => undefined,
  ...localFilter((pod) => {
    if (pod.hostPorts.length === 0) return undefined;
    const rejected = rejection("node(s) didn't have free ports for the requested pod ports");
    return (node) =>
      pod.hostPorts.some((port) => node.hasPortConflict(port)) ? rejected : undefined;
  }),
  remedies: ({ pod }, node) =>
    pod.hostPorts
      .filter((port) => node.hasPortConflict(port))
      .map(({ protocol, port }) => nodeHasNot(`host port ${protocol}/${port} free`)),
};
