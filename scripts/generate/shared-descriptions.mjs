/**
 * Copies the description of a type or field to the versions of its group that have none, so that
 * each is written once. Stable versions take precedence, then newer ones.
 */

/** Mutates the files. */
export function shareDescriptions(files) {
  const known = new Map();
  for (const { group, types } of files.filter((file) => file.group).sort(byStability)) {
    for (const [name, type] of Object.entries(types)) {
      share(known, `${group} ${name}`, type);
      for (const field of type.fields) share(known, `${group} ${name} ${field.name}`, field);
    }
  }
}

function share(known, key, item) {
  if (item.description === undefined) {
    if (known.has(key)) item.description = known.get(key);
  } else if (!known.has(key)) known.set(key, item.description);
}

function byStability(a, b) {
  return rank(a.version) - rank(b.version) || (a.version < b.version ? 1 : -1);
}

function rank(version) {
  if (version.includes('alpha')) return 2;
  return version.includes('beta') ? 1 : 0;
}
