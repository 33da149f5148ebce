/** Pods run on the nodes that an annotation of their namespace selects, and may choose among them. */
import { dialect } from '@orch/component';
import type { Pod } from '@orch/types/core/v1';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  isWriteOf,
  refusal,
} from '../admission-rule.js';

/** `a=b,c=d` as pairs. Throws 403 for what is not that. */
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
      throw refusal(
        target,
        `invalid selector: [${text}] in the annotation ${key} of the namespace`,
      );
    }
    return [name, value];
  });
}

export const podNodeSelectorRule: AdmissionRule = {
  name: 'PodNodeSelector',
  async mutate(target, context) {
    if (!isWriteOf(target, 'core', 'pods', ['CREATE'])) return;
    const selected = await selectedNodes(target, context);
    if (selected.length === 0) return;
    const pod = target.object as Pod;
    pod.spec ??= {};
    pod.spec.nodeSelector = { ...Object.fromEntries(selected), ...pod.spec.nodeSelector };
  },
  async validate(target, context) {
    if (!isWriteOf(target, 'core', 'pods', ['CREATE'])) return;
    const own = (target.object as Pod).spec?.nodeSelector ?? {};
    const selected = await selectedNodes(target, context);
    if (selected.every(([name, value]) => own[name] === value)) return;
    throw refusal(
      target,
      'pod node label selector conflicts with its namespace node label selector',
    );
  },
};
