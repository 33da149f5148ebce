/**
 * Decorators that declare the properties of a class as command line flags. `@Flag` declares one
 * flag, `@Flags` includes the flags of another options class as one property. class-validator
 * decorators validate the values; `parse-options.ts` parses.
 */
import 'reflect-metadata';
import {
  formatByteSize,
  formatDuration,
  formatHostPort,
  type HostPort,
  parseBoolean,
  parseByteSize,
  parseDuration,
  parseHostPort,
  parseKeyValues,
  parseList,
  parseNumber,
} from './values.js';

/**
 * The type of a flag's value. `duration` is in milliseconds, `bytes` in bytes. `list` is separated
 * by commas; `texts` collects one entry for each occurrence of the flag.
 */
export type FlagType =
  | 'string'
  | 'number'
  | 'boolean'
  | 'duration'
  | 'bytes'
  | 'hostPort'
  | 'list'
  | 'texts'
  | 'keyValues';

export interface FlagSpec {
  /** The name without dashes. A function if it contains the brand of the dialect. */
  readonly name: string | (() => string);
  /** What the flag sets. For a tuning value also `Higher: <effect>. Lower: <effect>.` */
  readonly description: string;
  /** The default as written on the command line; the initial value of the property if absent. */
  readonly default?: FlagDefault | (() => FlagDefault);
  /** The environment variable that is read if the flag is absent. */
  readonly env?: string;
  /** Derived from the type of the property (string, number, boolean, array) if absent. */
  readonly type?: FlagType;
  /** Additional names. */
  readonly aliases?: readonly string[];
  /** Whether the flag is omitted from the help. */
  readonly hidden?: boolean;
}

export type FlagDefault = string | number | boolean;

export interface FlagProperty {
  readonly property: string;
  /** Absent if it derives from the initial value of the property. */
  readonly type?: FlagType;
  readonly spec: FlagSpec;
}

export interface FlagGroup {
  readonly property: string;
  readonly optionsClass: OptionsClass<object>;
  /** Defaults that override those of the group. */
  readonly defaults: GroupDefaults;
}

/** Defaults by flag name; a function if names or values contain the brand of the dialect. */
export type GroupDefaults =
  | Readonly<Record<string, FlagDefault>>
  | (() => Readonly<Record<string, FlagDefault>>);

export type OptionsClass<T extends object> = new () => T;

interface Declared {
  readonly flags: FlagProperty[];
  readonly groups: FlagGroup[];
}

const declaredByClass = new Map<object, Declared>();

/** Declares a property as a flag. */
export function Flag(spec: FlagSpec): PropertyDecorator {
  return (target, key) => {
    const property = String(key);
    const designType: unknown = Reflect.getMetadata('design:type', target, key);
    declarationOf(target.constructor).flags.push({
      property,
      type: spec.type ?? typeOf(designType),
      spec,
    });
  };
}

/** Includes the flags of another options class; the property holds its instance. */
export function Flags(
  optionsClass: OptionsClass<object>,
  defaults: GroupDefaults = {},
): PropertyDecorator {
  return (target, key) => {
    declarationOf(target.constructor).groups.push({
      property: String(key),
      optionsClass,
      defaults,
    });
  };
}

/** Returns the flags and groups of a class, those of its base classes first. */
export function flagsOf(optionsClass: OptionsClass<object>): Declared {
  const flags: FlagProperty[] = [];
  const groups: FlagGroup[] = [];
  let current: unknown = optionsClass;
  while (typeof current === 'function' && current !== Function.prototype) {
    const declared = declaredByClass.get(current);
    flags.unshift(...(declared?.flags ?? []));
    groups.unshift(...(declared?.groups ?? []));
    current = Object.getPrototypeOf(current);
  }
  return { flags, groups };
}

function declarationOf(declaringClass: object): Declared {
  let declared = declaredByClass.get(declaringClass);
  if (!declared) {
    declared = { flags: [], groups: [] };
    declaredByClass.set(declaringClass, declared);
  }
  return declared;
}

function typeOf(designType: unknown): FlagType | undefined {
  if (designType === String) return 'string';
  if (designType === Number) return 'number';
  if (designType === Boolean) return 'boolean';
  if (designType === Array) return 'list';
  return undefined;
}

/**
 * Returns the type of a flag whose property has the value `initial`. Throws if the type is unknown.
 */
export function flagType(flag: FlagProperty, initial: unknown): FlagType {
  if (flag.type) return flag.type;
  if (Array.isArray(initial)) return 'list';
  const name = typeof initial;
  if (name === 'string' || name === 'number' || name === 'boolean') return name;
  throw new Error(`the type of option ${flag.property} is unknown; set it in @Flag`);
}

/** Parses all occurrences of one flag: the last one counts; lists and pairs accumulate. */
export function flagValue(type: FlagType, texts: readonly string[]): unknown {
  const last = texts.at(-1) ?? '';
  switch (type) {
    case 'string':
      return last;
    case 'number':
      return parseNumber(last);
    case 'boolean':
      return parseBoolean(last);
    case 'duration':
      return parseDuration(last);
    case 'bytes':
      return parseByteSize(last);
    case 'hostPort':
      return parseHostPort(last);
    case 'list':
      return texts.flatMap(parseList);
    case 'texts':
      return [...texts];
    case 'keyValues':
      return Object.assign(Object.create(null), ...texts.map(parseKeyValues));
  }
}

/** Formats a value as written on the command line, for the help and for error texts. */
export function formatFlagValue(type: FlagType, value: unknown): string {
  if (value === undefined || value === null) return '';
  switch (type) {
    case 'duration':
      return formatDuration(value as number);
    case 'bytes':
      return formatByteSize(value as number);
    case 'hostPort':
      return formatHostPort(value as HostPort);
    case 'list':
    case 'texts':
      return (value as readonly string[]).join(',');
    case 'keyValues':
      return Object.entries(value as Record<string, string>)
        .map(([key, entry]) => `${key}=${entry}`)
        .join(',');
    default:
      return String(value);
  }
}
