/** Changes of the cluster after which a pod without a feasible node may have one. */
export const clusterEvents = [
  'node added',
  'node changed',
  'pod assigned',
  'pod removed',
  'claim changed',
  'volume changed',
  'storage class changed',
  'storage node changed',
  'storage capacity changed',
  'service changed',
] as const;

export type ClusterEvent = (typeof clusterEvents)[number];
