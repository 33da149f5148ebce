/** The plugins of the predicates and priorities of a policy, and their arguments. */
import { ConfigurationMap } from './configuration-map.js';

export const predicatePlugins: Readonly<Record<string, readonly string[]>> = {
  GeneralPredicates: ['NodeName', 'NodeAffinity', 'NodePorts', 'NodeResourcesFit'],
  HostName: ['NodeName'],
  MatchNodeSelector: ['NodeAffinity'],
  PodFitsHostPorts: ['NodePorts'],
  PodFitsResources: ['NodeResourcesFit'],
  PodToleratesNodeTaints: ['TaintToleration'],
  CheckNodeUnschedulable: ['NodeUnschedulable'],
  NoDiskConflict: ['VolumeRestrictions'],
  NoVolumeZoneConflict: ['VolumeZone'],
  CheckVolumeBinding: ['VolumeBinding'],
  MaxCSIVolumeCountPred: ['NodeVolumeLimits'],
  MaxEBSVolumeCount: ['EBSLimits'],
  MaxGCEPDVolumeCount: ['GCEPDLimits'],
  MaxAzureDiskVolumeCount: ['AzureDiskLimits'],
  MaxCinderVolumeCount: ['CinderLimits'],
  MatchInterPodAffinity: ['InterPodAffinity'],
  EvenPodsSpread: ['PodTopologySpread'],
};

export const priorityPlugins: Readonly<Record<string, string>> = {
  EqualPriority: '',
  BalancedResourceAllocation: 'NodeResourcesBalancedAllocation',
  EvenPodsSpreadPriority: 'PodTopologySpread',
  ImageLocalityPriority: 'ImageLocality',
  InterPodAffinityPriority: 'InterPodAffinity',
  LeastRequestedPriority: 'NodeResourcesLeastAllocated',
  MostRequestedPriority: 'NodeResourcesMostAllocated',
  NodeAffinityPriority: 'NodeAffinity',
  NodePreferAvoidPodsPriority: 'NodePreferAvoidPods',
  SelectorSpreadPriority: 'SelectorSpread',
  ServiceSpreadingPriority: 'SelectorSpread',
  TaintTolerationPriority: 'TaintToleration',
};

/** Collects the arguments of entries, which several entries of one plugin share. */
export class PolicyArguments {
  private readonly lists = new Map<string, Record<string, string[]>>();
  private readonly others = new Map<string, object>();

  constructor(private readonly file: string) {}

  /** Returns the plugin of the argument of a predicate. */
  ofPredicate(argument: ConfigurationMap): string {
    const service = argument.map('serviceAffinity');
    const presence = argument.map('labelsPresence');
    argument.finish();
    if (service) {
      this.add('ServiceAffinity', 'affinityLabels', service.texts('labels'));
      service.finish();
      return 'ServiceAffinity';
    }
    if (!presence) throw argument.fault('serviceAffinity', 'this or labelsPresence is required');
    const list = presence.boolean('presence') ? 'presentLabels' : 'absentLabels';
    this.add('NodeLabel', list, presence.texts('labels'));
    presence.finish();
    return 'NodeLabel';
  }

  /** Returns the plugin of the argument of a priority. */
  ofPriority(argument: ConfigurationMap): string {
    const service = argument.map('serviceAntiAffinity');
    const preference = argument.map('labelPreference');
    const ratio = argument.map('requestedToCapacityRatioArguments');
    argument.finish();
    if (service) {
      const label = service.text('label') ?? '';
      this.add('ServiceAffinity', 'antiAffinityLabelsPreference', [label]);
      service.finish();
      return 'ServiceAffinity';
    }
    if (preference) {
      const list = preference.boolean('presence')
        ? 'presentLabelsPreference'
        : 'absentLabelsPreference';
      this.add('NodeLabel', list, [preference.text('label') ?? '']);
      preference.finish();
      return 'NodeLabel';
    }
    if (!ratio) {
      throw argument.fault(
        'serviceAntiAffinity',
        'this, labelPreference or requestedToCapacityRatioArguments is required',
      );
    }
    this.others.set('RequestedToCapacityRatio', ratio.plain());
    return 'RequestedToCapacityRatio';
  }

  all(): Map<string, ConfigurationMap> {
    return new Map(
      [...this.lists, ...this.others].map(([plugin, fields]) => [
        plugin,
        ConfigurationMap.ofValue(fields, `the arguments of ${plugin}`, this.file),
      ]),
    );
  }

  private add(plugin: string, list: string, labels: readonly string[]): void {
    const fields = this.lists.get(plugin) ?? {};
    fields[list] = [...(fields[list] ?? []), ...labels];
    this.lists.set(plugin, fields);
  }
}
