/** Rules of the annotations that mean something to nodes, all of them from clients of before. */
import { type FieldError, fieldError, isJsonObject, path } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { AvoidPods, Taint } from '@orch/types/core/v1';
import { parseJson, parseList } from './annotation-list.js';
import { validateTaints } from './taint-validation.js';

type Annotations = Readonly<Record<string, string>>;

export function validateNodeAnnotations(annotations: Annotations = {}): FieldError[] {
  return [...validateTaintList(annotations), ...validateAvoidedPods(annotations)];
}

function validateTaintList(annotations: Annotations): FieldError[] {
  const key = dialect().key('taints', 'scheduler.alpha');
  const text = annotations[key];
  if (!text) return [];
  const at = path('metadata', 'annotations');
  const taints = parseList<Taint>(text);
  return typeof taints === 'string'
    ? [fieldError.invalid(at, key, taints)]
    : validateTaints(taints, at.child(key));
}

/** Every entry names a controller whose pods should rather run elsewhere. */
function validateAvoidedPods(annotations: Annotations): FieldError[] {
  const key = dialect().key('preferAvoidPods', 'scheduler.alpha');
  const text = annotations[key];
  if (!text) return [];
  const at = path('metadata', 'annotations');
  const value = parseJson(text);
  if (!isJsonObject(value)) {
    return [fieldError.invalid(at.child('AvoidPods'), key, 'must be a JSON object')];
  }
  const { preferAvoidPods = [] } = value as AvoidPods;
  return preferAvoidPods.flatMap((entry, index) => {
    const signatureAt = at.child(key).index(index).child('PodSignature');
    const controller = entry.podSignature?.podController;
    if (!controller) return [fieldError.required(signatureAt)];
    return controller.controller === true
      ? []
      : [
          fieldError.invalid(
            signatureAt.child('PodController', 'Controller'),
            false,
            'must point to a controller',
          ),
        ];
  });
}
