/** Binding: assigns a pod to a node. Predates the `binding` subresource of pods. */
import type { Binding } from '@orch/types/core/v1';
import { define } from '../definition.js';

export const binding = define<Binding>({
  plural: 'bindings',
  singular: '',
  kind: 'Binding',
  namespaced: true,
  verbs: ['create'],
  virtual: true,
  versions: [{ group: 'core', version: 'v1' }],
  stored: { group: 'core', version: 'v1' },
  columns: [],
});
