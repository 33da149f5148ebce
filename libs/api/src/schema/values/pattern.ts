/**
 * Compiles patterns of schemas in the RE2 dialect, which match in linear time, so that no pattern
 * can block the server. A pattern may match anywhere in the text.
 */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Outcome } from './outcome.js';

/** Matching a character costs a share of the pattern's instructions; this many cost one step. */
const instructionsPerStep = 16;

/** The problem with a pattern; undefined if it compiles. */
export function patternFault(pattern: string): string | undefined {
  const compiled = compiledOrFault(pattern);
  return typeof compiled === 'string' ? compiled : undefined;
}

function compiledOrFault(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return error.message;
    throw error;
  }
}

/** An invalid pattern, which older definitions may contain, matches nothing. */
export function compilePattern(pattern: string): (text: string, outcome: Outcome) => boolean {
  const compiled = compiledOrFault(pattern);
  if (typeof compiled === 'string') return () => false;
  const cost = compiled.programSize() / instructionsPerStep;
  return (text, outcome) => {
    outcome.spend(Math.ceil(text.length * cost));
    return compiled.test(text);
  };
}
