/** The admission plugins and their selection. */
export {
  configurePlugins,
  readAdmissionConfiguration,
} from './configuration/admission-configuration.js';
export {
  type CheckedMap,
  type ConfigurationDocument,
  checkedMap,
  checkedObject,
  readDocument,
} from './configuration/document.js';
export type { PluginDeclaration, PluginDependencies } from './plugin.js';
export { type PluginNames, selectPlugins } from './plugin-selection.js';
export { admissionPlugins } from './plugins.js';
export {
  type RoleEscalationDependencies,
  roleEscalation,
} from './role-escalation/role-escalation.js';
