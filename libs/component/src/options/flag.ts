/**
 * The decorators that make a class a set of command line flags. `@Flag` marks one property, `@Flags`
 * takes in the flags of another options class under one property. The rules on values are
 * class-validator decorators beside them; parsing is in `parse-options.ts`.
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

/** How the text of a flag becomes a value; `duration` gives milliseconds, `bytes` gives bytes.
 * `list` splits at commas, `texts` takes one entry each time the flag is given. */
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
  /** Without dashes. A function where the name or the default holds the dialect's brand word. */
  readonly name: string | (() => string);
  /** What it does, and for a tuning value what gets worse when it is raised and when it is lowered. */
  readonly description: string;
  /** In the form in which it is written on the command line; none means the property's initial value. */
  readonly default?: FlagDefault | (() => FlagDefault);
  /** Environment variable that is used when the flag is not given. */
  readonly env?: string;
  /** Told from the property's type (string, number, boolean, array, object) when left out. */
  readonly type?: FlagType;
  /** Further accepted names. */
  readonly aliases?: readonly string[];
  /** Works, but is left out of the help. */
  readonly hidden?: boolean;
}

export type FlagDefault = string | number | boolean;

export interface FlagProperty {
  readonly property: string;
  /** Absent where only the property's initial value tells it. */
  readonly type?: FlagType;
  readonly spec: FlagSpec;
}

export interface FlagGroup {
  readonly property: string;
  readonly optionsClass: OptionsClass<object>;
  /** Other defaults than the group's own. */
  readonly defaults: GroupDefaults;
}

/** By flag name; a function where names or values hold the dialect's brand word. */
export type GroupDefaults =
  | Readonly<Record<string, FlagDefault>>
  | (() => Readonly<Record<string, FlagDefault>>);

export type OptionsClass<T extends object> = new () => T;

interface Declared {
  readonly flags: FlagProperty[];
  readonly groups: FlagGroup[];
}

const declaredByClass = new Map<object, Declared>();

/** Marks a property as a flag. */
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

/** Takes in the flags of another class; the property holds its instance. */
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

/** Flags and groups of a class, those of its base classes first. */
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

/** The type of a flag whose property starts with `initial`. A flag without any type is a fault. */
export function flagType(flag: FlagProperty, initial: unknown): FlagType {
  if (flag.type) return flag.type;
  if (Array.isArray(initial)) return 'list';
  const name = typeof initial;
  if (name === 'string' || name === 'number' || name === 'boolean') return name;
  throw new Error(`the type of option ${flag.property} cannot be told, give one in @Flag`);
}

/** The value of all texts given for one flag: the last one counts, lists and pairs add up. */
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

/** The written form of a value, for the help and for messages. */
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
