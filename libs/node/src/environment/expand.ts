/** `$(NAME)` in commands, arguments and values. */

/**
 * Replaces `$(NAME)` by what `lookup` knows; an unknown name stays as written. `$$` stands for one `$`,
 * so `$$(NAME)` comes out as `$(NAME)`.
 */
export function expand(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) => {
    if (name === undefined) return '$';
    return lookup(name) ?? whole;
  });
}
