/** The webhooks that the bench registers. */

export const configurations =
  '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations';

/** A webhook that matches nothing in the bench. */
export function hook(index) {
  return {
    name: `hook-${index}.example.com`,
    clientConfig: { url: 'https://127.0.0.1/' },
    rules: [
      {
        apiGroups: ['apps'],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE'],
        resources: [`kind-${index}`, 'deployments', 'deployments/status'],
      },
    ],
    namespaceSelector: { matchLabels: { team: `team-${index}` } },
    matchPolicy: 'Equivalent',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
  };
}

export const hooks = (length) => Array.from({ length }, (_, index) => hook(index));

export const named = (name, webhooks) => ({ metadata: { name }, webhooks });

/** A webhook at `clientConfig` that validates new config maps in labelled namespaces. */
export function reviewing(clientConfig, matchLabels, more = {}) {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'] };
  const rules = [{ ...rule, resources: ['configmaps'] }];
  return { ...hook(0), clientConfig, rules, namespaceSelector: { matchLabels }, ...more };
}
