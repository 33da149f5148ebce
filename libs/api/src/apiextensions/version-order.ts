/** The priority order of versions. */

/**
 * `v1` before `v1beta2` before `v1beta1` before `v1alpha1`; higher numbers first. Other names come
 * last, in alphabetical order.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version));
  if (!left || !right) {
    if (left) return -1;
    if (right) return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return (
    stageOf(right) - stageOf(left) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  );
}

function stageOf([, , stage]: RegExpExecArray): number {
  if (stage === undefined) return 2;
  return stage === 'beta' ? 1 : 0;
}
