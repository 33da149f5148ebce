/**
 * Finds the tables that a LevelDB directory uses, in its manifest: a file of changes to the set of
 * tables, in the format of LevelDB's write-ahead files. A crash leaves other tables beside them,
 * also incomplete ones.
 */
import { join } from 'node:path';
import { LevelFormatError, LevelReader, maskedChecksum, readIfThere } from './level-bytes.js';

const blockBytes = 32 * 1024;
const headerBytes = 7;

const fragments = { full: 1, first: 2, middle: 3, last: 4 } as const;
const fields = {
  comparator: 1,
  logNumber: 2,
  nextFileNumber: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedFile: 6,
  newFile: 7,
  previousLogNumber: 9,
} as const;

export interface LiveTable {
  readonly number: number;
  readonly byteCount: number;
}

/**
 * The tables in use. Undefined if there is no manifest or it is damaged: LevelDB checks its
 * manifest and reports that itself.
 */
export async function liveTables(directory: string): Promise<LiveTable[] | undefined> {
  const current = await readIfThere(join(directory, 'CURRENT'));
  const name = current?.toString().trim() ?? '';
  // Anything else is left to LevelDB to report.
  if (!/^MANIFEST-\d+$/.test(name)) return undefined;
  const manifest = await readIfThere(join(directory, name));
  if (!manifest) return undefined;
  const tables = new Map<number, LiveTable>();
  try {
    for (const record of recordsOf(manifest)) applyEdit(new LevelReader(record), tables);
  } catch (error) {
    if (error instanceof LevelFormatError) return undefined;
    throw error;
  }
  return [...tables.values()];
}

/** The records up to the end or to one that a crash truncated. Throws for a wrong checksum. */
function* recordsOf(file: Buffer): Generator<Buffer> {
  let parts: Buffer[] = [];
  for (let at = 0; at + headerBytes <= file.length; ) {
    const left = blockBytes - (at % blockBytes);
    const length = file.readUInt16LE(at + 4);
    const kind = file[at + 6]!;
    if (left < headerBytes || (kind === 0 && length === 0)) {
      at += left;
      continue;
    }
    const end = at + headerBytes + length;
    if (end > file.length) return;
    if (file.readUInt32LE(at) !== maskedChecksum(file, at + headerBytes - 1, end)) {
      throw new LevelFormatError('a record does not match its checksum');
    }
    if (kind === fragments.full || kind === fragments.first) parts = [];
    parts.push(file.subarray(at + headerBytes, end));
    if (kind === fragments.full || kind === fragments.last) yield Buffer.concat(parts);
    at = end;
  }
}

/** Applies a change of the set of tables: fields with a number before each. */
function applyEdit(edit: LevelReader, tables: Map<number, LiveTable>): void {
  while (!edit.isAtEnd) {
    switch (edit.number()) {
      case fields.comparator:
        edit.take(edit.number());
        break;
      case fields.logNumber:
      case fields.nextFileNumber:
      case fields.lastSequence:
      case fields.previousLogNumber:
        edit.number();
        break;
      case fields.compactPointer:
        edit.number();
        edit.take(edit.number());
        break;
      case fields.deletedFile:
        edit.number();
        tables.delete(edit.number());
        break;
      case fields.newFile: {
        edit.number();
        const number = edit.number();
        tables.set(number, { number, byteCount: edit.number() });
        // The smallest and the largest key.
        edit.take(edit.number());
        edit.take(edit.number());
        break;
      }
      default:
        throw new LevelFormatError('an unknown field');
    }
  }
}
