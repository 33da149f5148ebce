/**
 * A command whose flags have values in every form that users of the interface write: `-o=json`,
 * `-Ao=json`, `--watch=true` and `-w=false` as well as `-o json`, `-ojson` and `--watch`.
 */
import { Command, type Option } from 'commander';
import { booleanOption } from './boolean-option.js';

const shortForm = /^-([A-Za-z]+)=(.+)$/s;
const longForm = /^(--[A-Za-z][\w-]*)=(.*)$/s;

export class FlagCommand extends Command {
  override createCommand(name?: string): FlagCommand {
    return new FlagCommand(name);
  }

  override parseOptions(argv: string[]): ReturnType<Command['parseOptions']> {
    const end = argv.indexOf('--');
    const flags = end < 0 ? argv : argv.slice(0, end);
    const rest = end < 0 ? [] : argv.slice(end);
    return super.parseOptions([...flags.flatMap((word) => this.spelled(word)), ...rest]);
  }

  /**
   * The word as this command reads it; flags that it does not have may be those of a subcommand.
   */
  private spelled(word: string): string[] {
    const short = shortForm.exec(word);
    if (short) return this.spelledShort([...short[1]!], short[2]!) ?? [word];
    const [, long, value] = longForm.exec(word) ?? [];
    const option = this.options.find((one) => one.long === long);
    return option && !takesValue(option) ? boolean(option, value!) : [word];
  }

  /** Undefined: not flags of this command, or a value that follows its flag without a separator. */
  private spelledShort(letters: readonly string[], value: string): string[] | undefined {
    const options = letters.map((letter) =>
      this.options.find(({ short }) => short === `-${letter}`),
    );
    const last = options.pop();
    if (!last || options.some((option) => !option || takesValue(option))) return undefined;
    return [
      ...options.map((option) => option!.short!),
      ...(takesValue(last) ? [`${last.long}=${value}`] : boolean(last, value)),
    ];
  }
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** `--watch=false` is the same as no `--watch`. Throws `UsageError` for other values. */
function boolean({ long }: Option, value: string): string[] {
  return booleanOption(long!)(value) ? [long!] : [];
}
