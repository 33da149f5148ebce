/** The pods that a job creates. Pure. */
import type { Job } from '@orch/types/batch/v1';
import type { Container, Pod } from '@orch/types/core/v1';
import { podFromTemplate } from '../common/pod-template.js';
import { indexAnnotation } from './job-indexes.js';

const indexVariable = 'JOB_COMPLETION_INDEX';
const namePrefixCharsMax = 253 - 5;

/** A pod of `job`, which needs apiVersion and kind; with `index`, the pod of that index. */
export function jobPod(job: Job, index: number | undefined): Pod {
  const pod = podFromTemplate(job, job.spec?.template);
  if (index === undefined) return pod;
  const name = job.metadata?.name ?? '';
  const suffix = `-${index}-`;
  const { metadata, spec } = pod;
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName: name.slice(0, namePrefixCharsMax - suffix.length) + suffix,
      annotations: { ...metadata?.annotations, [indexAnnotation()]: String(index) },
    },
    spec: {
      ...spec,
      hostname: `${name}-${index}`,
      containers: (spec?.containers ?? []).map(withIndexVariable),
      ...(spec?.initContainers && { initContainers: spec.initContainers.map(withIndexVariable) }),
    },
  };
}

/** A variable of the template with the same name takes precedence. */
function withIndexVariable(container: Container): Container {
  const env = container.env ?? [];
  if (env.some(({ name }) => name === indexVariable)) return container;
  const fieldPath = `metadata.annotations['${indexAnnotation()}']`;
  const variable = { name: indexVariable, valueFrom: { fieldRef: { fieldPath } } };
  return { ...container, env: [...env, variable] };
}
