/** The plugins whose rejection an event may resolve. */
import { type ClusterEvent, clusterEvents } from '../framework/cluster-event.js';
import type { Plugin } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';

export function interestedPlugins(
  profiles: readonly Profile[],
): (event: ClusterEvent) => readonly string[] {
  const plugins = new Map<string, Plugin>();
  for (const { preFilters, filters } of profiles) {
    for (const plugin of [...preFilters, ...filters]) plugins.set(plugin.name, plugin);
  }
  const byEvent = new Map(
    clusterEvents.map((event) => [
      event,
      [...plugins.values()]
        .filter(({ retryOn }) => !retryOn || retryOn.includes(event))
        .map(({ name }) => name),
    ]),
  );
  return (event) => byEvent.get(event)!;
}
