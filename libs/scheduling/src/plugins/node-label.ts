/** Rejects and scores nodes by the presence of labels, whatever their values. */
import { finalRejection, type Plugin, scoreEach, scoreMax } from '../framework/plugin.js';

export interface NodeLabelOptions {
  readonly presentLabels?: readonly string[];
  readonly absentLabels?: readonly string[];
  readonly presentLabelsPreference?: readonly string[];
  readonly absentLabelsPreference?: readonly string[];
}

export function nodeLabel(options: NodeLabelOptions): Plugin {
  const {
    presentLabels = [],
    absentLabels = [],
    presentLabelsPreference = [],
    absentLabelsPreference = [],
  } = options;
  const rejected = finalRejection("node(s) didn't have the requested labels");
  const preferenceCount = presentLabelsPreference.length + absentLabelsPreference.length;
  return {
    name: 'NodeLabel',
    retryOn: ['node added', 'node changed'],
    filter() {
      if (presentLabels.length + absentLabels.length === 0) return undefined;
      return ({ labels }) =>
        presentLabels.every((key) => labels[key] !== undefined) &&
        absentLabels.every((key) => labels[key] === undefined)
          ? undefined
          : rejected;
    },
    score(_cycle, feasible) {
      if (preferenceCount === 0) return undefined;
      return scoreEach(feasible, ({ labels }) => {
        const present = presentLabelsPreference.filter((key) => labels[key] !== undefined);
        const absent = absentLabelsPreference.filter((key) => labels[key] === undefined);
        return Math.trunc((scoreMax * (present.length + absent.length)) / preferenceCount);
      });
    },
  };
}
