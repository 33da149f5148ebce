/** Service addresses to pod endpoints, by forwarding in user space. */
export { ProxyOptions } from './proxy-options.js';
export { ServiceProxy, type ServiceProxyParts } from './service-proxy.js';
