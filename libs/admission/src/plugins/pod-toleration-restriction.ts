/**
 * Adds the default tolerations of the namespace, or of the cluster, to new pods, and rejects
 * tolerations that are not in the allowed ones of the namespace, or of the cluster.
 */
import { validateTolerations } from '@orch/api';
import {
  codecFor,
  fieldErrorMessage,
  path,
  SchemaError,
  semanticallyEqual,
} from '@orch/apimachinery';
import { dialect, ValueError } from '@orch/component';
import { unknownFields } from '@orch/registry';
import type { Pod, Toleration } from '@orch/types/core/v1';
import { type ConfigurationDocument, checkedObject } from '../configuration/document.js';
import { rulePlugin } from '../kind-rules.js';
import type { PluginDeclaration } from '../plugin.js';
import {
  type AdmissionContext,
  type AdmissionRule,
  type AdmissionTarget,
  forbiddenTarget,
} from '../rule.js';

type Tolerations = readonly Toleration[];

/** For namespaces without annotations. */
interface ClusterTolerations {
  readonly defaults: Tolerations;
  readonly allowed: Tolerations;
}

const tolerationType = 'core/v1.Toleration';

export const podTolerationRestriction: PluginDeclaration = {
  ...rulePlugin(podTolerationRule({ defaults: [], allowed: [] })),
  configured: (document) => rulePlugin(podTolerationRule(readTolerations(document))),
};

export function podTolerationRule(cluster: ClusterTolerations): AdmissionRule {
  return {
    name: 'PodTolerationRestriction',
    isDefault: false,
    kinds: ['core/pods'],
    operations: ['CREATE', 'UPDATE'],
    subresource: '',

    async mutate(target, context) {
      if (target.operation !== 'CREATE') return;
      const pod = target.object as Pod;
      const own = await ofNamespace(target, context, 'defaultTolerations');
      const added = [...(own ?? cluster.defaults), ...tolerationsOfQuality(pod)];
      if (added.length === 0) return;
      pod.spec ??= {};
      pod.spec.tolerations = mergeTolerations([...added, ...(pod.spec.tolerations ?? [])]);
    },

    async validate(target, context) {
      const tolerations = (target.object as Pod).spec?.tolerations ?? [];
      if (tolerations.length === 0) return;
      const own = await ofNamespace(target, context, 'tolerationsWhitelist');
      const allowed = own ?? cluster.allowed;
      if (allowed.length === 0) return;
      if (tolerations.every((toleration) => allowed.some((wide) => covers(wide, toleration)))) {
        return;
      }
      throw forbiddenTarget(
        target,
        `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${own ? 'namespace' : 'cluster'} whitelist`,
      );
    },
  };
}

/** Pods with requests or limits stay on nodes with little memory. */
function tolerationsOfQuality({ spec }: Pod): Tolerations {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const isBestEffort = containers.every(({ resources }) =>
    ['cpu', 'memory'].every((name) => !resources?.limits?.[name] && !resources?.requests?.[name]),
  );
  if (isBestEffort) return [];
  const key = dialect().key('memory-pressure', 'node');
  return [{ key, operator: 'Exists', effect: 'NoSchedule' }];
}

/** The annotation of the namespace; undefined if it has none. */
async function ofNamespace(
  target: AdmissionTarget,
  { reader }: AdmissionContext,
  name: string,
): Promise<Tolerations | undefined> {
  const namespace = await reader.get('core', 'namespaces', '', target.namespace);
  const key = dialect().key(name, 'scheduler.alpha');
  const text = namespace?.metadata?.annotations?.[key];
  if (text === undefined) return undefined;
  if (text === '') return [];
  try {
    const list = JSON.parse(text) as unknown;
    if (!Array.isArray(list)) throw new SchemaError('not a list');
    return list.map((item) => codecFor<Toleration>(tolerationType).fromJson(item));
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof SchemaError)) throw error;
    throw forbiddenTarget(
      target,
      `the annotation ${key} of the namespace is not a list of tolerations: ${error.message}`,
    );
  }
}

/** Without tolerations that another one covers; of equal ones the first stays. */
function mergeTolerations(all: Tolerations): Toleration[] {
  const merged: Toleration[] = [];
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      merged.some((other) => covers(other, toleration)) ||
      all
        .slice(index + 1)
        .some((other) => !semanticallyEqual(other, toleration) && covers(other, toleration));
    if (!isCovered) merged.push(toleration);
  }
  return merged;
}

/** Reports whether `wide` tolerates every taint that `narrow` tolerates. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (semanticallyEqual(wide, narrow)) return true;
  const { key = '', operator = 'Equal', effect = '', tolerationSeconds } = wide;
  const matchesEveryKey = key === '' && operator === 'Exists';
  if (key !== (narrow.key ?? '') && !matchesEveryKey) return false;
  if (effect !== '' && effect !== narrow.effect) return false;
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    const { tolerationSeconds: narrowS } = narrow;
    if (narrowS === undefined || narrowS > tolerationSeconds) return false;
  }
  if (operator === 'Exists') return true;
  return (narrow.operator ?? 'Equal') === 'Equal' && (wide.value ?? '') === (narrow.value ?? '');
}

/** Throws ValueError. */
function readTolerations(document: ConfigurationDocument): ClusterTolerations {
  const versions = [['podtolerationrestriction.admission', 'v1alpha1']] as const;
  const types = { default: 'list', whitelist: 'list' } as const;
  const read = checkedObject(document, 'Configuration', versions, types);
  const list = (name: string): Tolerations => {
    const items = (read[name] ?? []) as unknown[];
    const unknown = items.flatMap((item, index) =>
      unknownFields(tolerationType, item).map((field) => `${name}[${index}].${field}`),
    );
    if (unknown.length > 0) {
      throw new ValueError(`${document.file}: unknown fields ${unknown.join(', ')}`);
    }
    try {
      const tolerations = items.map((item) => codecFor<Toleration>(tolerationType).fromJson(item));
      const errors = validateTolerations(tolerations, path(name)).map(fieldErrorMessage);
      if (errors.length > 0) throw new ValueError(`${document.file}: ${errors.join(', ')}`);
      return tolerations;
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error;
      throw new ValueError(`${document.file}: ${name}: ${error.message}`);
    }
  };
  return { defaults: list('default'), allowed: list('whitelist') };
}
