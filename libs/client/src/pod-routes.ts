/** How routes to the pods of nodes are announced where no cloud installs them. */
import { dialect } from '@orch/component';
import type { ApiObject } from './objects.js';

/**
 * Returns the annotation of a node with its ranges, comma-separated, that the route controller of a
 * cluster announces.
 */
export function podRoutesAnnotation(clusterName: string): string {
  return dialect().key(clusterName, 'pod-routes.node');
}

export function announcedPodRanges({ metadata }: ApiObject, clusterName: string): string[] {
  const text = metadata?.annotations?.[podRoutesAnnotation(clusterName)] ?? '';
  return text.split(',').filter((range) => range !== '');
}
