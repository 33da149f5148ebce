/** Pod: containers that run together on one node. */
import { type FieldError, fieldError, path } from '@orch/apimachinery';
import type { Pod } from '@orch/types/core/v1';
import { define } from '../../definition.js';
import { validateImageSpaces } from '../container/container-validation.js';
import { validateEphemeralContainersUpdate } from '../container/ephemeral-container-validation.js';
import { validatePodAnnotations } from './pod-annotations.js';
import { mirrorServiceAccount, setPodDefaults, setPullPolicies } from './pod-defaults.js';
import { gatedPodFields } from './pod-gated-fields.js';
import { validatePodSpec } from './pod-spec-validation.js';
import { podColumns, podRowConditions } from './pod-table.js';
import { validatePodStatusUpdate, validatePodUpdate } from './pod-update.js';
import { qualityOfService } from './quality-of-service.js';
import { mirrorSeccomp, validateSeccompAgreement } from './seccomp.js';

function validatePod(object: Pod): FieldError[] {
  const spec = object.spec ?? {};
  const errors = [
    ...validatePodAnnotations(object.metadata?.annotations, spec, path('metadata', 'annotations')),
    ...validatePodSpec(spec, { podName: object.metadata?.name ?? '' }, path('spec')),
  ];
  if (!spec.serviceAccountName) errors.push(...validateNoTokens(object));
  for (const field of ['containers', 'initContainers'] as const) {
    for (const [index, { image }] of (spec[field] ?? []).entries()) {
      errors.push(
        ...validateImageSpaces(image ?? '', path('spec', field).index(index).child('image')),
      );
    }
  }
  return errors;
}

/** Token volumes need a service account. */
function validateNoTokens(object: Pod): FieldError[] {
  return (object.spec?.volumes ?? []).flatMap((volume, index) =>
    (volume.projected?.sources ?? []).flatMap((source, sourceIndex) =>
      source.serviceAccountToken
        ? [
            fieldError.forbidden(
              path('spec', 'volumes')
                .index(index)
                .child('projected', 'sources')
                .index(sourceIndex)
                .child('serviceAccountToken'),
              'must not be specified when serviceAccountName is not set',
            ),
          ]
        : [],
    ),
  );
}

export const pod = define<Pod>({
  plural: 'pods',
  singular: '',
  kind: 'Pod',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  versions: [{ group: 'core', version: 'v1', setDefaults: (object) => setPodDefaults(object) }],
  stored: { group: 'core', version: 'v1' },

  gatedFields: gatedPodFields,
  prepareForCreate(object) {
    object.spec ??= {};
    mirrorServiceAccount(object.spec);
    mirrorSeccomp(object);
    object.status = { phase: 'Pending', qosClass: qualityOfService(object.spec) };
  },
  prepareForUpdate(object, old) {
    if (object.spec) mirrorServiceAccount(object.spec);
    object.status = old.status;
  },
  validate: validatePod,
  validateCreate: (object) => [
    ...(object.spec?.ephemeralContainers?.length
      ? [fieldError.forbidden(path('spec', 'ephemeralContainers'), 'cannot be set on create')]
      : []),
    ...validateSeccompAgreement(object.metadata?.annotations, object.spec ?? {}, path('spec')),
  ],
  validateUpdate: validatePodUpdate,

  deleteReturnsObject: true,
  deletionGracePeriodSeconds(object, requested) {
    const phase = object.status?.phase;
    if (!object.spec?.nodeName || phase === 'Failed' || phase === 'Succeeded') return 0;
    return requested ?? object.spec.terminationGracePeriodSeconds ?? 0;
  },

  ephemeralContainers: {
    prepareForUpdate(object, old) {
      if (object.spec) setPullPolicies(object.spec);
      object.status = old.status;
    },
    validateUpdate: validateEphemeralContainersUpdate,
  },

  columns: podColumns,
  rowConditions: podRowConditions,
  selectableFields: {
    'spec.nodeName': (object) => object.spec?.nodeName ?? '',
    'spec.host': (object) => object.spec?.nodeName ?? '',
    'spec.restartPolicy': (object) => object.spec?.restartPolicy ?? '',
    'spec.schedulerName': (object) => object.spec?.schedulerName ?? '',
    'spec.serviceAccountName': (object) => object.spec?.serviceAccountName ?? '',
    'status.phase': (object) => object.status?.phase ?? '',
    'status.podIP': (object) => object.status?.podIPs?.[0]?.ip ?? '',
    'status.podIPs': () => '',
    'status.nominatedNodeName': (object) => object.status?.nominatedNodeName ?? '',
  },

  status: {
    prepareForUpdate(object, old) {
      object.spec = old.spec;
      if (object.metadata) object.metadata.ownerReferences = old.metadata?.ownerReferences;
    },
    validateUpdate: validatePodStatusUpdate,
    resetFields: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'],
  },
});
