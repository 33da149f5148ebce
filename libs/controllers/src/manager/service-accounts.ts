/** The service account of each controller, to which the system roles are bound. */

/** Accounts of controllers whose name differs from that of the controller plus `-controller`. */
const otherNames: Readonly<Record<string, string>> = {
  garbagecollector: 'generic-garbage-collector',
  serviceaccount: 'service-account-controller',
  'root-ca-cert-publisher': 'root-ca-cert-publisher',
  replicationcontroller: 'replication-controller',
  daemonset: 'daemon-set-controller',
  horizontalpodautoscaling: 'horizontal-pod-autoscaler',
  'persistentvolume-binder': 'persistent-volume-binder',
  'persistentvolume-expander': 'expand-controller',
  podgc: 'pod-garbage-collector',
  'storage-version-gc': 'storage-version-garbage-collector',
  nodeipam: 'node-controller',
  nodelifecycle: 'node-controller',
  'cloud-node-lifecycle': 'node-controller',
  'noexec-taint': 'node-controller',
  csrapproving: 'certificate-controller',
  csrsigning: 'certificate-controller',
  csrcleaner: 'certificate-controller',
  bootstrapsigner: 'bootstrap-signer',
  tokencleaner: 'token-cleaner',
};

/** Controllers that write as the user of the controller manager. */
const managerControllers: ReadonlySet<string> = new Set(['serviceaccount-token']);

/** Whether the controller may write as a service account of its own. */
export function hasAccount(controller: string): boolean {
  return !managerControllers.has(controller);
}

/** Returns the name of the service account of a controller, in the system namespace. */
export function accountNameOf(controller: string): string {
  return otherNames[controller] ?? `${controller}-controller`;
}
