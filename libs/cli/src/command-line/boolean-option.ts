/** A boolean option, given as `--name` or `--name=true|false`. Every other value is rejected. */
import { UsageError } from './errors.js';

/** A parser for commander's `[boolean]` options, which are `true` without a value. */
export function booleanOption(flag: string): (text: string) => boolean {
  return (text) => {
    if (text === 'true') return true;
    if (text === 'false') return false;
    throw new UsageError(`${flag}: want ${flag}=true or ${flag}=false, got ${text}`);
  };
}
