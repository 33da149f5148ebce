/**
 * Publishes the certificate authority of the API server as a config map in every active namespace,
 * so that pods can verify the server. Changes by others are overwritten.
 */
import {
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  keyOf,
  resources,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { ConfigMap } from '@orch/types/core/v1';
import { type ControllerFactory, done } from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import { ignoring } from '../common/expected-errors.js';
import { isNamespaceActive, namespaceOf } from '../common/namespaces.js';
import { never } from '../common/watches.js';

const authorityKey = 'ca.crt';

export const rootCaPublisher: ControllerFactory = (context) => {
  const { authorityPem } = context;
  if (authorityPem === undefined) return undefined;
  const name = dialect().systemName('root-ca.crt');
  const selection = { fieldSelector: `metadata.name=${name}` };
  const namespaces = context.informers.informer(resources.namespaces).lister;
  const configMaps = context.informers.informer(resources.configMaps, selection).lister;

  return controller('root_ca_publisher', context)
    .for(resources.namespaces, { delete: never })
    .watches(resources.configMaps, namespaceOf, { selection, create: never })
    .reconcile(async (namespace) => {
      if (!isNamespaceActive(namespaces.get(namespace))) return done;
      const existing = configMaps.get(keyOf(namespace, name));
      if (existing && isPublished(existing, authorityPem)) return done;
      const client = context.client.resource(resources.configMaps, namespace);
      const data = { [authorityKey]: authorityPem };
      const write = existing
        ? client.replace({ ...existing, data })
        : client.create({ metadata: { name, namespace }, data });
      await ignoring(write, isAlreadyExists, isConflict, isNamespaceTerminating, isNotFound);
      return done;
    });
};

function isPublished({ data = {} }: ConfigMap, authorityPem: string): boolean {
  return data[authorityKey] === authorityPem && Object.keys(data).length === 1;
}
