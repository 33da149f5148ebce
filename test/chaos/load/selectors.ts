/**
 * Colours: the label of the load's objects, some of which have none, and the selectors that watches ask
 * with. The colour of an object is part of its value, so that who knows the value knows the label.
 */
export const colors = ['red', 'green', 'blue', 'none'] as const;
export type Color = (typeof colors)[number];

export interface Selector {
  readonly text: string;
  readonly selects: (value: string) => boolean;
}

/** All of them select what is red, as the last write of a run is. */
export const selectors: readonly Selector[] = [
  { text: 'color=red', selects: (value) => colorOf(value) === 'red' },
  { text: 'color!=green', selects: (value) => colorOf(value) !== 'green' },
  {
    text: 'color in (red,blue)',
    selects: (value) => ['red', 'blue'].includes(colorOf(value)),
  },
];

/** The value number `sequence` of a writer; unique, since no two writers have one name. */
export function coloredValue(writer: string, sequence: number, color: Color): string {
  return `${writer}.${sequence}.${color}`;
}

function colorOf(value: string): string {
  return value.slice(value.lastIndexOf('.') + 1);
}

/** Of an object that has this value. */
export function labelsOf(value: string): Record<string, string> {
  const color = colorOf(value);
  return color === 'none' ? {} : { color };
}

/** Merged into what is there, it leaves the labels of this value. */
export function labelsPatchOf(value: string): Record<string, string | null> {
  const color = colorOf(value);
  return { color: color === 'none' ? null : color };
}
