export { type Endpoint, EndpointPicker } from './balancing/endpoint-picker.js';
export { ProxyOptions } from './proxy-options.js';
export { type PortRule, portRules } from './rules/port-rules.js';
export { ServiceProxy, type ServiceProxyParts } from './service-proxy.js';
