/**
 * What would have to change so that a node admits a pod, as phrases about nodes that can be
 * counted: `3 nodes need 100m to 200m more cpu`. Nodes that lack different amounts of one resource
 * are counted together.
 */

/** A lack of a resource: CPU in thousandths, memory and storage in bytes, others in whole units. */
export interface MissingResource {
  readonly resource: string;
  readonly missing: number;
}

/** A phrase whose subject is one node, and the same phrase for several. */
export interface Phrase {
  readonly one: string;
  readonly many: string;
}

export type Remedy = MissingResource | Phrase;

export function nodeHas(text: string): Phrase {
  return { one: `has ${text}`, many: `have ${text}` };
}

export function nodeHasNot(text: string): Phrase {
  return { one: `does not have ${text}`, many: `do not have ${text}` };
}

export function nodeIs(text: string): Phrase {
  return { one: `is ${text}`, many: `are ${text}` };
}

/** The nodes with the same refusals, except for the missing amounts. */
export interface RemedyGroup {
  readonly nodeCount: number;
  /** How many things have to change. */
  readonly changeCount: number;
  readonly text: string;
}

export interface NodeRemedies {
  readonly node: string;
  /** Not empty. */
  readonly remedies: readonly Remedy[];
}

/** Groups the nodes. Groups with the fewest changes are first, then those with the most nodes. */
export function groupRemedies(nodes: readonly NodeRemedies[]): RemedyGroup[] {
  const groups = new Map<string, NodeRemedies[]>();
  for (const entry of nodes) {
    const key = JSON.stringify(entry.remedies.map(keyOf).sort());
    const members = groups.get(key);
    if (members) members.push(entry);
    else groups.set(key, [entry]);
  }
  return [...groups.values()]
    .map((members) => ({
      nodeCount: members.length,
      changeCount: members[0]!.remedies.length,
      text: groupText(members),
    }))
    .sort((a, b) => a.changeCount - b.changeCount || b.nodeCount - a.nodeCount);
}

/** Returns the changes for one node: `needs 200m more cpu`. */
export function remedyTexts(remedies: readonly Remedy[]): string[] {
  return remedies.map((remedy) =>
    'one' in remedy
      ? remedy.one
      : `needs ${amountText(remedy.resource, remedy.missing)} more ${remedy.resource}`,
  );
}

function groupText(members: readonly NodeRemedies[]): string {
  const isOne = members.length === 1;
  const texts = members[0]!.remedies.map((remedy) => {
    if ('one' in remedy) return isOne ? remedy.one : remedy.many;
    const { resource } = remedy;
    const amounts = members.map(({ remedies }) => missingOf(remedies, resource));
    const [least, most] = [Math.min(...amounts), Math.max(...amounts)].map((amount) =>
      amountText(resource, amount),
    );
    const range = least === most ? least : `${least} to ${most}`;
    return `${isOne ? 'needs' : 'need'} ${range} more ${resource}`;
  });
  return `${members.length} ${isOne ? 'node' : 'nodes'} ${texts.join(' and ')}`;
}

function keyOf(remedy: Remedy): string {
  return 'one' in remedy ? remedy.one : remedy.resource;
}

function missingOf(remedies: readonly Remedy[], resource: string): number {
  for (const remedy of remedies) {
    if ('resource' in remedy && remedy.resource === resource) return remedy.missing;
  }
  return 0;
}

const binaryUnits = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];

/** Returns the amount as a quantity, bytes rounded up to at most four digits. */
function amountText(resource: string, amount: number): string {
  if (resource === 'cpu') return amount % 1_000 === 0 ? `${amount / 1_000}` : `${amount}m`;
  if (!isBytes(resource)) return String(amount);
  let value = amount;
  let unit = 0;
  while (unit < binaryUnits.length - 1 && (value >= 10_000 || isWhole(value))) {
    value /= 1_024;
    unit++;
  }
  return `${Math.ceil(value)}${binaryUnits[unit]}`;
}

function isBytes(resource: string): boolean {
  return (
    resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-')
  );
}

/** Whether the next larger unit loses nothing. */
function isWhole(value: number): boolean {
  return value >= 1_024 && value % 1_024 === 0;
}
