/** The agent of one node: runs the pods that are assigned to it. */

export { CertificateOptions } from './certificate-options.js';
export { CertificateManager } from './certificates/certificate-manager.js';
export { CertificateStore } from './certificates/certificate-store.js';
export { joinCluster } from './certificates/join-cluster.js';
export { clientCertificate, nodeUser } from './certificates/node-certificates.js';
export { requestCertificate } from './certificates/request-certificate.js';
export { HollowNodes } from './hollow/hollow-nodes.js';
export { HollowOptions } from './hollow/hollow-options.js';
export { renewalTimeoutMs } from './limits.js';
export { NodeAgent, type NodeAgentDependencies } from './node-agent.js';
export { NodeAgentOptions, nodeNameOf } from './node-agent-options.js';
export { assignedRange } from './registration/assigned-range.js';
export { ProcessRuntime, type ProcessRuntimeOptions } from './runtimes/process/process-runtime.js';
