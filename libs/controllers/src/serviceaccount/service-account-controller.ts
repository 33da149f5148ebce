/**
 * Creates the service account `default` in every active namespace, and again when it is deleted.
 */
import {
  isAlreadyExists,
  isNamespaceTerminating,
  isNotFound,
  keyOf,
  resources,
} from '@orch/client';
import { type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { isNamespaceActive, namespaceOf } from '../common/namespaces.js';
import { never } from '../common/watches.js';

const accountName = 'default';

export const serviceAccountController: ControllerFactory = (context) => {
  const namespaces = context.informers.informer(resources.namespaces).lister;
  const accounts = context.informers.informer(resources.serviceAccounts).lister;

  return controller('serviceaccount', context)
    .for(resources.namespaces, { delete: never })
    .watches(resources.serviceAccounts, namespaceOf, { create: never, update: never })
    .reconcile(async (namespace) => {
      if (!isNamespaceActive(namespaces.get(namespace))) return done;
      if (accounts.get(keyOf(namespace, accountName))) return done;
      const creation = context.client
        .resource(resources.serviceAccounts, namespace)
        .create({ metadata: { name: accountName, namespace } });
      await ignoring(creation, isAlreadyExists, isNamespaceTerminating, isNotFound);
      return done;
    });
};
