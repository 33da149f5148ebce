/** The form of label selectors in messages that name a metric. Pure. */
import type { LabelSelector } from '@orch/types/meta/v1';

/** As the interface writes it, with the labels in order. */
export function selectorText(selector: LabelSelector | undefined): string {
  if (!selector) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const map = labels.map(([key, value]) => `${key}: ${value},`).join('');
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const list = `[]LabelSelectorRequirement{${expressions.join('')}}`;
  return `&LabelSelector{MatchLabels:map[string]string{${map}},MatchExpressions:${list},}`;
}
