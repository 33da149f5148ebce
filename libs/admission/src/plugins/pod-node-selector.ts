/**
 * Adds the node selector in the annotation of the namespace to its pods; a pod may only narrow it.
 */
import { dialect } from '@orch/component';
import {
  type AdmissionContext,
  type AdmissionTarget,
  forbiddenTarget,
  type WriteRule,
} from '../rule.js';

/** Parses `a=b,c=d`. Throws 403 if the text is malformed. */
async function selectedNodes(
  target: AdmissionTarget,
  { reader }: AdmissionContext,
): Promise<[string, string][]> {
  const namespace = await reader.get('core', 'namespaces', '', target.namespace);
  const key = dialect().key('node-selector', 'scheduler.alpha');
  const text = namespace?.metadata?.annotations?.[key]?.trim() ?? '';
  if (text === '') return [];
  return text.split(',').map((term) => {
    const [name = '', value, ...rest] = term.split('=').map((part) => part.trim());
    if (name === '' || value === undefined || rest.length > 0) {
      throw forbiddenTarget(
        target,
        `invalid selector: [${text}] in the annotation ${key} of the namespace`,
      );
    }
    return [name, value];
  });
}

export const podNodeSelector: WriteRule<'core/pods'> = {
  name: 'PodNodeSelector',
  isDefault: false,
  kinds: ['core/pods'],
  operations: ['CREATE'],
  subresource: '',

  async mutate(target, context) {
    const selected = await selectedNodes(target, context);
    if (selected.length === 0) return;
    const pod = target.object;
    pod.spec ??= {};
    pod.spec.nodeSelector = { ...Object.fromEntries(selected), ...pod.spec.nodeSelector };
  },
  async validate(target, context) {
    const own = target.object.spec?.nodeSelector ?? {};
    const selected = await selectedNodes(target, context);
    if (selected.every(([name, value]) => own[name] === value)) return;
    throw forbiddenTarget(
      target,
      'pod node label selector conflicts with its namespace node label selector',
    );
  },
};
