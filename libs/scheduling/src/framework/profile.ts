/** The plugins of one scheduler name, by extension point and in the order of their calls. */
import type { Plugin } from './plugin.js';

/** The extension points, in the order of a cycle. */
export const extensionPoints = [
  'queueSort',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
] as const;
export type ExtensionPoint = (typeof extensionPoints)[number];

/** A plugin that implements `P` for certain. */
export type PluginWith<P extends keyof Plugin> = Plugin & Required<Pick<Plugin, P>>;

export interface WeightedScore {
  readonly plugin: PluginWith<'score'>;
  readonly weight: number;
}

export interface Profile {
  /** Pods with this `spec.schedulerName` are scheduled with this profile. */
  readonly schedulerName: string;
  readonly queueSort: PluginWith<'queueSort'>;
  readonly preFilters: readonly PluginWith<'preFilter'>[];
  readonly filters: readonly PluginWith<'filter'>[];
  readonly postFilters: readonly PluginWith<'postFilter'>[];
  readonly preScores: readonly PluginWith<'preScore'>[];
  readonly scores: readonly WeightedScore[];
  readonly reserves: readonly PluginWith<'reserve'>[];
  readonly permits: readonly PluginWith<'permit'>[];
  /** Names of binding plugins, which the shell implements. */
  readonly preBinds: readonly string[];
  readonly binds: readonly string[];
  readonly postBinds: readonly string[];
  /** How long a pod may wait for the binding of its volumes. */
  readonly volumeBindTimeoutMs: number;
}
