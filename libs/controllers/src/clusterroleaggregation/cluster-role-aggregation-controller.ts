/**
 * Writes the rules of aggregated cluster roles: the union of the rules of the roles that their
 * selectors match. Rules that a user adds to an aggregated role are removed.
 */
import { semanticallyEqual } from '@orch/apimachinery';
import { isConflict, isNotFound, resources } from '@orch/client';
import { type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { aggregatedRules } from './aggregated-rules.js';

export const clusterRoleAggregationController: ControllerFactory = (context) => {
  const { lister } = context.informers.informer(resources.clusterRoles);
  /** Any role may match any selector, so that each change concerns all aggregated roles. */
  const aggregatedNames = () =>
    lister
      .list()
      .filter((role) => role.aggregationRule)
      .map((role) => role.metadata?.name ?? '');

  return controller('ClusterRoleAggregator', context)
    .workers(5)
    .watches(resources.clusterRoles, aggregatedNames)
    .reconcile(async (name) => {
      const role = lister.get(name);
      if (!role?.aggregationRule) return done;
      const rules = aggregatedRules(role, lister.list());
      if (semanticallyEqual(role.rules ?? [], rules)) return done;
      const roles = context.client.resource(resources.clusterRoles);
      await ignoring(roles.replace({ ...role, rules }), isConflict, isNotFound);
      return done;
    });
};
