/** Expansion of `$(NAME)` in commands, arguments and values. */

/**
 * Replaces `$(NAME)` by the value of `lookup`; an unknown name remains as written. `$$` becomes
 * `$`, so that `$$(NAME)` becomes `$(NAME)`.
 */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) => {
    if (name === undefined) return '$';
    return lookup(name) ?? whole;
  });
}
