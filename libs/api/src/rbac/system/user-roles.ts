/** Rules of the roles for users; `admin`, `edit` and `view` aggregate them. */
import type { PolicyRule } from '@orch/types/rbac.authorization/v1';
import { rule, urls } from './rule.js';

const writes = 'create delete deletecollection patch update';
const reads = 'get list watch';

/** By role name. */
export function userRules(): Readonly<Record<string, PolicyRule[]>> {
  return {
    'cluster-admin': [rule('*', '*', '*'), urls('*', '*')],
    'system:aggregate-to-admin': [
      rule('create', 'authorization', 'localsubjectaccessreviews'),
      rule(
        'create delete deletecollection get list patch update watch',
        'rbac.authorization',
        'rolebindings roles',
      ),
    ],
    'system:aggregate-to-edit': [
      rule(
        reads,
        'core',
        'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy',
      ),
      rule('impersonate', 'core', 'serviceaccounts'),
      rule(writes, 'core', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
      rule(
        writes,
        'core',
        'configmaps endpoints persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
      ),
      rule(
        writes,
        'apps',
        'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
      ),
      rule(writes, 'autoscaling', 'horizontalpodautoscalers'),
      rule(writes, 'batch', 'cronjobs jobs'),
      rule(
        writes,
        'extensions',
        'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
      ),
      rule(writes, 'policy', 'poddisruptionbudgets'),
      rule(writes, 'networking', 'ingresses networkpolicies'),
    ],
    'system:aggregate-to-view': [
      rule(
        reads,
        'core',
        'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
      ),
      rule(
        reads,
        'core',
        'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
      ),
      rule(reads, 'core', 'namespaces'),
      rule(
        reads,
        'apps',
        'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      ),
      rule(reads, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
      rule(reads, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
      rule(
        reads,
        'extensions',
        'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
      ),
      rule(reads, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
      rule(reads, 'networking', 'ingresses ingresses/status networkpolicies'),
    ],
    'system:basic-user': [
      rule('create', 'authorization', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    ],
    'system:discovery': [
      urls(
        'get',
        '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/',
      ),
    ],
    'system:monitoring': [
      urls('get', '/healthz /healthz/* /livez /livez/* /metrics /readyz /readyz/*'),
    ],
    'system:public-info-viewer': [urls('get', '/healthz /livez /readyz /version /version/')],
    'system:service-account-issuer-discovery': [
      urls('get', '/.well-known/openid-configuration /openid/v1/jwks'),
    ],
  };
}
