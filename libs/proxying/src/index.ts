/** The service proxy: forwards service addresses to pod endpoints in user space. */
export { ProxyOptions } from './proxy-options.js';
export { ServiceProxy, type ServiceProxyDependencies } from './service-proxy.js';
