/** PodTemplate: a pod template as an object of its own. */
import { path } from '@orch/apimachinery';
import type { PodTemplate } from '@orch/types/core/v1';
import { define } from '../../definition.js';
import { mapCell, nameColumn } from '../../shared/columns.js';
import { below } from '../../shared/gated-fields.js';
import { podFields } from '../pod/pod-gated-fields.js';
import { setPodTemplateDefaults, templateColumns, validatePodTemplate } from './pod-template.js';

export const podTemplate = define<PodTemplate>({
  plural: 'podtemplates',
  singular: '',
  kind: 'PodTemplate',
  namespaced: true,
  versions: [
    {
      group: 'core',
      version: 'v1',
      setDefaults: (object: PodTemplate) => setPodTemplateDefaults(object.template),
    },
  ],
  stored: { group: 'core', version: 'v1' },
  deleteReturnsObject: true,

  gatedFields: below('template', podFields),
  validate: ({ template }) => validatePodTemplate(template, path('template')),
  updateChecks: ['metadataUpdate', 'object'],

  columns: [
    nameColumn(),
    ...templateColumns<PodTemplate>((object) => object.template, 0),
    {
      name: 'Pod Labels',
      type: 'string',
      description: 'Labels of the template.',
      cell: (object) => mapCell(object.template?.metadata?.labels),
    },
  ],
});
