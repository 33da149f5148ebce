/**
 * Parses a command line into a validated options object. Every mistake produces a `UsageError`
 * (exit code 2) with one line that contains the flag, the cause and the remedy. The caller prints:
 * `HelpRequested` to standard output, `UsageError` to standard error.
 */
import { type ValidationError, validateSync } from 'class-validator';
import { Command, CommanderError, Option } from 'commander';
import { type DialectName, dialectNames, selectDialect } from '../dialect/dialect.js';
import { flagValueBytesMax } from '../limits.js';
import {
  type FlagDefault,
  type FlagProperty,
  type FlagType,
  flagsOf,
  flagType,
  flagValue,
  formatFlagValue,
  type OptionsClass,
} from './flag.js';
import { ValueError } from './values.js';

export interface ProgramInfo {
  readonly program: string;
  readonly description: string;
  readonly version: string;
}

/** An invalid command line; `message` is the line to print. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = 2;
}

/** `--help` or `--version` is set; `message` is the text to print. */
export class HelpRequested extends Error {
  override readonly name = 'HelpRequested';
  readonly exitCode = 0;
}

/** One flag of the tree of option classes, bound to the object that holds its value. */
interface BoundFlag {
  readonly flag: FlagProperty;
  readonly type: FlagType;
  readonly name: string;
  readonly owner: Record<string, unknown>;
  readonly texts: string[];
}

/**
 * Parses `argv` (without node and script) into an instance of `optionsClass`. Applies `--dialect`,
 * if the class has the flag, before it evaluates any name or default. Finally calls
 * `checkRelations` of each options class that has the method; it throws `ValueError` if flags
 * contradict each other.
 */
export function parseOptions<T extends object>(
  optionsClass: OptionsClass<T>,
  argv: readonly string[],
  info: ProgramInfo,
): T {
  try {
    chooseDialect(optionsClass, argv);
    const options = new optionsClass();
    const bound = bind(optionsClass, options, {});
    const command = commandOf(bound, info);
    runCommand(command, argv, info);
    for (const entry of bound) assign(entry);
    check(options, bound);
    checkRelations(options);
    return options;
  } catch (error) {
    if (error instanceof ValueError) throw usageError(info, error.message);
    throw error;
  }
}

function chooseDialect(optionsClass: OptionsClass<object>, argv: readonly string[]): void {
  const hasDialectFlag = (candidate: OptionsClass<object>): boolean => {
    const { flags, groups } = flagsOf(candidate);
    return (
      flags.some((flag) => flag.spec.name === 'dialect') ||
      groups.some((group) => hasDialectFlag(group.optionsClass))
    );
  };
  if (!hasDialectFlag(optionsClass)) return;
  let name = process.env.ORCH_DIALECT;
  argv.forEach((argument, index) => {
    if (argument.startsWith('--dialect=')) name = argument.slice('--dialect='.length);
    else if (argument === '--dialect') name = argv[index + 1];
  });
  if (name === undefined || name === '') return;
  const dialectName = dialectNames.find(
    (candidate): candidate is DialectName => candidate === name,
  );
  if (!dialectName) {
    throw new ValueError(`--dialect: want one of ${dialectNames.join(', ')}, got ${name}`);
  }
  selectDialect(dialectName);
}

/** Sets all defaults on `instance` and returns its flags, including those of groups. */
function bind(
  optionsClass: OptionsClass<object>,
  instance: object,
  defaults: Readonly<Record<string, FlagDefault>>,
): BoundFlag[] {
  const owner = instance as Record<string, unknown>;
  const { flags, groups } = flagsOf(optionsClass);
  const bound = flags.map((flag): BoundFlag => {
    const name = resolved(flag.spec.name);
    const initial = defaults[name] ?? resolved(flag.spec.default);
    const type = flagType(flag, owner[flag.property]);
    if (initial !== undefined) owner[flag.property] = flagValue(type, [String(initial)]);
    return { flag, type, name, owner, texts: [] };
  });
  for (const group of groups) {
    const member = new group.optionsClass();
    owner[group.property] = member;
    bound.push(...bind(group.optionsClass, member, { ...resolved(group.defaults), ...defaults }));
  }
  return bound;
}

function resolved<T extends FlagDefault | Readonly<Record<string, FlagDefault>> | undefined>(
  value: T | (() => T),
): T {
  return typeof value === 'function' ? value() : value;
}

const placeholders: Readonly<Record<FlagType, string>> = {
  string: '<text>',
  number: '<number>',
  boolean: '[true|false]',
  duration: '<duration>',
  bytes: '<size>',
  hostPort: '<host:port>',
  list: '<list>',
  texts: '<text>',
  keyValues: '<key=value,...>',
};

function commandOf(bound: readonly BoundFlag[], info: ProgramInfo): Command {
  const command = new Command(info.program)
    .description(info.description)
    .version(info.version, '--version', 'print the version and exit')
    .helpOption('--help', 'print this help and exit')
    .allowExcessArguments(false)
    .configureHelp({ optionDescription: (option) => option.description })
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  for (const entry of bound) {
    const { type } = entry;
    const { spec, property } = entry.flag;
    const initial = formatFlagValue(type, entry.owner[property]);
    const notes = [
      ...(initial === '' ? [] : [`default ${initial}`]),
      ...(spec.env ? [`environment ${spec.env}`] : []),
    ];
    const shown =
      notes.length === 0 ? spec.description : `${spec.description} (${notes.join(', ')})`;
    [entry.name, ...(spec.aliases ?? [])].forEach((name, index) => {
      const option = new Option(`--${name} ${placeholders[type]}`, shown);
      option.argParser((text: string) => {
        if (text.length > flagValueBytesMax) {
          throw new ValueError(`--${name}: the value is longer than ${flagValueBytesMax} bytes`);
        }
        entry.texts.push(text);
        return text;
      });
      if (type === 'boolean') option.preset('true');
      if (index > 0 || spec.hidden) option.hideHelp();
      if (spec.env && index === 0) option.env(spec.env);
      command.addOption(option);
    });
  }
  return command;
}

function runCommand(command: Command, argv: readonly string[], info: ProgramInfo): void {
  try {
    command.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed' || error.code === 'commander.help') {
      throw new HelpRequested(command.helpInformation().trimEnd());
    }
    if (error.code === 'commander.version') {
      throw new HelpRequested(`${info.program} ${info.version}`);
    }
    const cause = error.message
      .replace(/^error: /, '')
      .replaceAll('option', 'flag')
      .replaceAll('\n', ' ')
      .replace(/'(--?[^'=]+)=[^']*'/, "'$1'");
    throw usageError(info, cause);
  }
}

function assign(entry: BoundFlag): void {
  if (entry.texts.length === 0) return;
  try {
    entry.owner[entry.flag.property] = flagValue(entry.type, entry.texts);
  } catch (error) {
    if (error instanceof ValueError) throw new ValueError(`--${entry.name}: ${error.message}`);
    throw error;
  }
}

function check(options: object, bound: readonly BoundFlag[]): void {
  for (const [owner, error] of failures(options)) {
    const entry = bound.find(
      (candidate) => candidate.owner === owner && candidate.flag.property === error.property,
    );
    const reasons = Object.values(error.constraints ?? {}).map((reason) =>
      reason.replace(new RegExp(`^${error.property} `), ''),
    );
    const shown = entry ? formatFlagValue(entry.type, error.value) : String(error.value);
    const flag = entry ? `--${entry.name}` : error.property;
    throw new ValueError(
      error.value === undefined
        ? `${flag} is missing: ${reasons.join(', ')}`
        : `${flag}: ${reasons.join(', ')}, got ${JSON.stringify(shown)}`,
    );
  }
}

/** Calls `checkRelations` of the object and of its groups. */
function checkRelations(owner: object): void {
  if ('checkRelations' in owner && typeof owner.checkRelations === 'function') {
    owner.checkRelations();
  }
  for (const member of groupMembers(owner)) checkRelations(member);
}

function groupMembers(owner: object): object[] {
  return flagsOf(classOf(owner)).groups.flatMap((group) => {
    const member: unknown = Reflect.get(owner, group.property);
    return member instanceof group.optionsClass ? [member] : [];
  });
}

function classOf(options: object): OptionsClass<object> {
  return options.constructor as OptionsClass<object>;
}

/**
 * Returns the validation errors of an object and of its groups, each with the object that it
 * belongs to.
 */
function failures(owner: object): [object, ValidationError][] {
  const { flags } = flagsOf(classOf(owner));
  const own =
    flags.length === 0 ? [] : validateSync(owner, { forbidUnknownValues: false, whitelist: false });
  const nested = groupMembers(owner).flatMap(failures);
  return [...own.map((error): [object, ValidationError] => [owner, error]), ...nested];
}

function usageError(info: ProgramInfo, cause: string): UsageError {
  return new UsageError(`${info.program}: ${cause}; run ${info.program} --help for all flags`);
}
