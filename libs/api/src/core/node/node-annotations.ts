/** Validates annotations of nodes, all from clients that predate the corresponding fields. */
import { type FieldError, fieldError, isJsonObject, path } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { AvoidPods, Taint } from '@orch/types/core/v1';
import { parseJson, parseList } from '../common/annotation-list.js';
import { validateTaints } from '../placement/taint-validation.js';

type Annotations = Readonly<Record<string, string>>;

export function validateNodeAnnotations(annotations: Annotations = {}): FieldError[] {
  return [...validateTaintList(annotations), ...validateAvoidedPods(annotations)];
}

function validateTaintList(annotations: Annotations): FieldError[] {
  const key = dialect().key('taints', 'scheduler.alpha');
  const text = annotations[key];
  if (!text) return [];
  const fieldPath = path('metadata', 'annotations');
  const taints = parseList<Taint>(text);
  return typeof taints === 'string'
    ? [fieldError.invalid(fieldPath, key, taints)]
    : validateTaints(taints, fieldPath.child(key));
}

/** Every entry names a controller whose pods should preferably run elsewhere. */
function validateAvoidedPods(annotations: Annotations): FieldError[] {
  const key = dialect().key('preferAvoidPods', 'scheduler.alpha');
  const text = annotations[key];
  if (!text) return [];
  const fieldPath = path('metadata', 'annotations');
  const value = parseJson(text);
  if (!isJsonObject(value)) {
    return [fieldError.invalid(fieldPath.child('AvoidPods'), key, 'must be a JSON object')];
  }
  const { preferAvoidPods = [] }: AvoidPods = value;
  return preferAvoidPods.flatMap((entry, index) => {
    const signatureAt = fieldPath.child(key).index(index).child('PodSignature');
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
