/**
 * Colours: the label of the load's objects, which some objects lack, and the selectors of the
 * watches. The colour of an object is part of its value, so that the value determines the label.
 */
export const colors = ['red', 'green', 'blue', 'none'] as const;
export type Color = (typeof colors)[number];

export interface Selector {
  readonly text: string;
  readonly selects: (value: string) => boolean;
}

/** All of them select red objects; the last write of a run is red. */
export const selectors: readonly Selector[] = [
  { text: 'color=red', selects: (value) => colorOf(value) === 'red' },
  { text: 'color!=green', selects: (value) => colorOf(value) !== 'green' },
  {
    text: 'color in (red,blue)',
    selects: (value) => ['red', 'blue'].includes(colorOf(value)),
  },
];

/** Returns value number `sequence` of a writer; unique, because writers have unique names. */
export function coloredValue(writer: string, sequence: number, color: Color): string {
  return `${writer}.${sequence}.${color}`;
}

function colorOf(value: string): string {
  return value.slice(value.lastIndexOf('.') + 1);
}

/** Returns the labels of an object with this value. */
export function labelsOf(value: string): Record<string, string> {
  const color = colorOf(value);
  return color === 'none' ? {} : { color };
}

/** Returns a merge patch that results in the labels of this value. */
export function labelsPatchOf(value: string): Record<string, string | null> {
  const color = colorOf(value);
  return { color: color === 'none' ? null : color };
}
