/** The types of the kinds that admission rules read and admit, by group head and plural. */
import type { ApiObject } from '@orch/api';
import type { CertificateSigningRequest } from '@orch/types/certificates/v1';
import type {
  LimitRange,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  Service,
  ServiceAccount,
} from '@orch/types/core/v1';
import type { Ingress, IngressClass } from '@orch/types/networking/v1';
import type { RuntimeClass } from '@orch/types/node/v1';
import type { PriorityClass } from '@orch/types/scheduling/v1';
import type { StorageClass } from '@orch/types/storage/v1';

export interface KindTypes {
  'certificates/certificatesigningrequests': CertificateSigningRequest;
  'core/limitranges': LimitRange;
  'core/namespaces': Namespace;
  'core/nodes': Node;
  'core/persistentvolumeclaims': PersistentVolumeClaim;
  'core/pods': Pod;
  'core/serviceaccounts': ServiceAccount;
  'core/services': Service;
  'networking/ingressclasses': IngressClass;
  'networking/ingresses': Ingress;
  'node/runtimeclasses': RuntimeClass;
  'scheduling/priorityclasses': PriorityClass;
  'storage/storageclasses': StorageClass;
}

export type KindName = keyof KindTypes;

/** The type of the objects of a kind; of a kind that is not listed, any object. */
export type ObjectOfKind<
  Head extends string,
  Plural extends string,
> = `${Head}/${Plural}` extends KindName ? KindTypes[`${Head}/${Plural}`] : ApiObject;
