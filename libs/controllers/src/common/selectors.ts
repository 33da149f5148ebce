/** The selectors of objects, compiled once for each version of an object. */
import {
  type LabelSelector,
  labelSelectorFromMap,
  labelSelectorFromObject,
} from '@orch/apimachinery';
import type { LabelSelector as LabelSelectorObject } from '@orch/types/meta/v1';

const compiled = new WeakMap<object, LabelSelector>();

interface Selecting {
  readonly spec?: { readonly selector?: LabelSelectorObject };
}

interface MapSelecting {
  readonly spec?: { readonly selector?: Readonly<Record<string, string>> };
}

/** The selector of a workload: an absent selector selects nothing, an empty one everything. */
export function selectorOf(object: Selecting): LabelSelector {
  return compiled.get(object) ?? keep(object, labelSelectorFromObject(object.spec?.selector));
}

/** The selector of a service: an absent or empty selector selects nothing. */
export function mapSelectorOf(object: MapSelecting): LabelSelector {
  return compiled.get(object) ?? keep(object, labelSelectorFromMap(object.spec?.selector));
}

function keep(object: object, selector: LabelSelector): LabelSelector {
  compiled.set(object, selector);
  return selector;
}
