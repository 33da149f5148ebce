/** The certificates that a node requests. */
import { dialect } from '@orch/component';
import type { WantedCertificate } from './request-certificate.js';

/** The group of all nodes, whose members the Node authorizer serves. */
export const nodesGroup = 'system:nodes';

export function nodeUser(nodeName: string): string {
  return `system:node:${nodeName}`;
}

/** The identity of the node agent as a client of the API. */
export function clientCertificate(nodeName: string): WantedCertificate {
  return {
    names: { commonName: nodeUser(nodeName), organizations: [nodesGroup] },
    signerName: dialect().key(dialect().systemName('apiserver-client-kubelet')),
    usages: ['digital signature', 'key encipherment', 'client auth'],
  };
}

/** The certificate of the agent's own server. */
export function servingCertificate(nodeName: string, address: string): WantedCertificate {
  return {
    names: {
      commonName: nodeUser(nodeName),
      organizations: [nodesGroup],
      dnsNames: [nodeName],
      ipAddresses: [address],
    },
    signerName: dialect().key('kubelet-serving'),
    usages: ['digital signature', 'key encipherment', 'server auth'],
  };
}
