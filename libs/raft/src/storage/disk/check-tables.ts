/**
 * Checks the tables of a LevelDB directory before it is opened. LevelDB compares no checksums when
 * it reads tables here, and damaged keys can make it abort the process: without an error that names
 * the cause, and before a damaged state could be restored.
 */
import { join } from 'node:path';
import { type BlockPlace, isCompressed, LevelBlock } from './level-block.js';
import { LevelFormatError, LevelReader, maskedChecksum, readIfThere } from './level-bytes.js';
import { type LiveTable, liveTables } from './level-manifest.js';

const footerBytes = 48;
const magic = 0xdb4775248b80fb57n;
/** The compression and the checksum behind each block. */
const trailerBytes = 5;

/**
 * Rejects with LevelFormatError if a block of a table in use does not match its checksum, unless
 * only values are damaged. Reads all tables, one at a time. `directory` is that of LevelDB.
 */
export async function checkTables(directory: string): Promise<void> {
  for (const table of (await liveTables(directory)) ?? []) {
    const name = `${String(table.number).padStart(6, '0')}.ldb`;
    // LevelDB reports tables that are missing; another process that has it open removes some.
    const bytes = await readIfThere(join(directory, name));
    if (bytes) checkTable(name, bytes, table);
  }
}

function checkTable(name: string, bytes: Buffer, { byteCount }: LiveTable): void {
  try {
    if (bytes.length < byteCount || byteCount < footerBytes) {
      throw new LevelFormatError('truncated');
    }
    checkBlocks(bytes.subarray(0, byteCount));
  } catch (error) {
    if (!(error instanceof LevelFormatError)) throw error;
    throw new LevelFormatError(`${name}: ${error.message}`);
  }
}

/** Throws LevelFormatError. */
function checkBlocks(table: Buffer): void {
  if (table.readBigUInt64LE(table.length - 8) !== magic) throw new LevelFormatError('no table');
  const footer = new LevelReader(table, table.length - footerBytes);
  const metaIndex = placeIn(footer);
  const dataIndex = placeIn(footer);
  for (const { place } of listedBlocks(table, metaIndex)) checkBlock(table, place);
  let after: Buffer | undefined;
  for (const { place, last } of listedBlocks(table, dataIndex)) {
    if (!matches(table, place)) checkKeys(table, place, after, last);
    after = last;
  }
}

function placeIn(reader: LevelReader): BlockPlace {
  return { start: reader.number(), byteCount: reader.number() };
}

/**
 * The blocks that an index block lists, each with a key that is not before its keys. None if it is
 * compressed, which those of our tables are not.
 */
function listedBlocks(table: Buffer, index: BlockPlace): { place: BlockPlace; last: Buffer }[] {
  checkBlock(table, index);
  if (isCompressed(table, index)) return [];
  const { rows } = new LevelBlock(table, index);
  return rows.map(({ keyEnd, value }) => ({
    place: placeIn(new LevelReader(value)),
    // The keys of an index are whole.
    last: keyEnd,
  }));
}

function checkBlock(table: Buffer, place: BlockPlace): void {
  if (!matches(table, place)) throw mismatch(place);
}

/** Whether the block matches its checksum. Throws if it is not in the table. */
function matches(table: Buffer, { start, byteCount }: BlockPlace): boolean {
  const end = start + byteCount;
  if (end + trailerBytes > table.length) throw new LevelFormatError('a block outside of it');
  // The checksum covers the compression too.
  return table.readUInt32LE(end + 1) === maskedChecksum(table, start, end + 1);
}

function mismatch({ start }: BlockPlace): LevelFormatError {
  return new LevelFormatError(`the block at byte ${start} does not match its checksum`);
}

/**
 * Throws unless only values are damaged. Those have checksums of their own, and their reader knows
 * which of them it can restore.
 */
function checkKeys(
  table: Buffer,
  place: BlockPlace,
  after: Buffer | undefined,
  last: Buffer,
): void {
  try {
    new LevelBlock(table, place).checkKeys(after, last);
  } catch (error) {
    throw error instanceof LevelFormatError ? mismatch(place) : error;
  }
}
