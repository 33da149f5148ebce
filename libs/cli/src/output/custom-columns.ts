/**
 * The custom columns of `get -o custom-columns=HEADER:PATH,...` and of a file with a line of
 * headers and a line of paths. A column without a value in an object contains `<none>`.
 */
import { readFileSync, statSync } from 'node:fs';
import type { JsonPath } from '@orch/apimachinery';
import type { ApiObject } from '@orch/client';
import { errorMessage } from '@orch/component';
import { UsageError } from '../command-line/errors.js';
import { parseFieldPath } from './json-path.js';
import { TableWriter } from './table.js';

/** Bytes of a columns file. Higher: larger mistakes are read as columns. */
const columnsFileBytesMax = 64 * 1024;

export interface CustomColumn {
  readonly header: string;
  /** Undefined for an empty path, which has no value in any object. */
  readonly path: JsonPath | undefined;
}

/** The columns of a value of `-o`; undefined for other formats. Throws `UsageError`. */
export function customColumns(output: string | undefined): readonly CustomColumn[] | undefined {
  const [, format, argument = ''] =
    /^(custom-columns(?:-file)?)(?:=(.*))?$/s.exec(output ?? '') ?? [];
  if (format === undefined) return undefined;
  if (argument === '') {
    throw new UsageError('custom-columns format specified but no custom columns given');
  }
  return format === 'custom-columns' ? columnsOfSpec(argument) : columnsOfText(textOf(argument));
}

function columnsOfSpec(spec: string): CustomColumn[] {
  return spec.split(',').map((part) => {
    const colon = part.indexOf(':');
    if (colon < 0) {
      throw new UsageError(
        `unexpected custom-columns spec: ${part}, expected <header>:<json-path-expr>`,
      );
    }
    return column(part.slice(0, colon), part.slice(colon + 1));
  });
}

/** The columns of a file: headers in the first line, paths in the second, separated by spaces. */
function columnsOfText(text: string): CustomColumn[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const expected =
    'Expected format is one line of space separated headers, one line of space separated column specs.';
  if (text === '') throw new UsageError(`invalid template, missing header line. ${expected}`);
  if (lines.length < 2) throw new UsageError(`invalid template, missing spec line. ${expected}`);
  const [headers = [], paths = []] = lines.map((line) => line.match(/\S+/g) ?? []);
  if (headers.length !== paths.length) {
    throw new UsageError(
      `number of headers (${headers.length}) and field specifications (${paths.length}) don't match`,
    );
  }
  return headers.map((header, index) => column(header, paths[index]!));
}

function textOf(file: string): string {
  try {
    if (statSync(file).size <= columnsFileBytesMax) return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`error reading template ${file}, ${errorMessage(error)}`);
  }
  throw new UsageError(`${file} is larger than ${columnsFileBytesMax} bytes`);
}

function column(header: string, path: string): CustomColumn {
  return { header, path: path === '' ? undefined : parseFieldPath(path) };
}

/** Prints objects as rows. Successive calls share the header and the widths, as a watch needs. */
export class CustomColumnsPrinter {
  private readonly writer = new TableWriter();

  constructor(
    private readonly columns: readonly CustomColumn[],
    private headerDue: boolean,
  ) {}

  text(objects: readonly ApiObject[]): string {
    const header = this.headerDue ? [this.columns.map((column) => column.header)] : [];
    this.headerDue = false;
    const rows = objects.map((object) => this.columns.map(({ path }) => cell(path, object)));
    return this.writer.format([...header, ...rows]);
  }
}

function cell(path: JsonPath | undefined, object: ApiObject): string {
  const found = path?.find(object) ?? [];
  return found.length === 0 ? '<none>' : found.map(valueText).join(',');
}

/** A value as other tools print it: `[a b]` for a list, `map[key:value]` for an object. */
function valueText(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(valueText).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, member]) => `${key}:${valueText(member)}`).join(' ')}]`;
}
