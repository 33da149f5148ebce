/**
 * Strict access to a map of a configuration file: a field of another type, and a field that is not
 * read, are errors, because a misspelled field would have no effect.
 */
import { readConfigurationFile } from '@orch/apimachinery';
import { errorMessage, parseDuration, ValueError } from '@orch/component';

export class ConfigurationMap {
  private readonly unread: Set<string>;

  private constructor(
    private readonly fields: Readonly<Record<string, unknown>>,
    private readonly path: string,
    private readonly file: string,
  ) {
    this.unread = new Set(Object.keys(fields));
  }

  /** Reads a file of YAML or JSON. Throws ValueError. */
  static ofFile(file: string): ConfigurationMap {
    return ConfigurationMap.of(readConfigurationFile(file), '', file);
  }

  /** Returns a map of values that are not in the file in this form. */
  static ofValue(value: object, path: string, file: string): ConfigurationMap {
    return ConfigurationMap.of(value, path, file);
  }

  private static of(value: unknown, path: string, file: string): ConfigurationMap {
    if (typeOf(value) !== 'map') {
      throw new ValueError(`${file}: ${path || 'the document'} is not a map`);
    }
    return new ConfigurationMap(value as Record<string, unknown>, path, file);
  }

  has(name: string): boolean {
    return this.fields[name] !== undefined && this.fields[name] !== null;
  }

  text(name: string): string | undefined {
    return this.value(name, 'string') as string | undefined;
  }

  boolean(name: string): boolean | undefined {
    return this.value(name, 'boolean') as boolean | undefined;
  }

  number(name: string): number | undefined {
    return this.value(name, 'number') as number | undefined;
  }

  /** Returns a whole number of at least `min` and at most `max`. */
  integer(name: string, min: number, max = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.number(name);
    if (value === undefined) return undefined;
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
    throw this.fault(name, `${value} is not a whole number, ${range}`);
  }

  /** Returns milliseconds of a text such as `15s`. */
  durationMs(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    try {
      return parseDuration(text);
    } catch (error) {
      throw this.fault(name, errorMessage(error));
    }
  }

  map(name: string): ConfigurationMap | undefined {
    const value = this.value(name, 'map');
    return value === undefined
      ? undefined
      : ConfigurationMap.of(value, this.pathOf(name), this.file);
  }

  maps(name: string): ConfigurationMap[] {
    const list = (this.value(name, 'list') ?? []) as unknown[];
    return list.map((value, index) =>
      ConfigurationMap.of(value, `${this.pathOf(name)}[${index}]`, this.file),
    );
  }

  texts(name: string): string[] {
    const list = (this.value(name, 'list') ?? []) as unknown[];
    return list.map((value, index) => {
      if (typeof value === 'string') return value;
      throw new ValueError(`${this.file}: ${this.pathOf(name)}[${index}] is not a string`);
    });
  }

  /** Returns all fields, which another reader checks. */
  plain(): object {
    return this.fields;
  }

  /** Throws ValueError for fields that were not read. */
  finish(): void {
    const [field] = this.unread;
    if (field !== undefined)
      throw new ValueError(`${this.file}: unknown field ${this.pathOf(field)}`);
  }

  /** Returns the error about a field of this map. */
  fault(name: string, problem: string): ValueError {
    return new ValueError(`${this.file}: ${this.pathOf(name)}: ${problem}`);
  }

  private value(name: string, type: string): unknown {
    this.unread.delete(name);
    const value = Object.hasOwn(this.fields, name) ? this.fields[name] : undefined;
    if (value === undefined || value === null) return undefined;
    if (typeOf(value) === type) return value;
    throw new ValueError(`${this.file}: ${this.pathOf(name)} is not a ${type}`);
  }

  private pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  return typeof value === 'object' && value !== null ? 'map' : typeof value;
}
