/** What the structure rules need to know about one source file, read from its syntax tree. */
import { parseSync } from '@swc/core';

export interface Located {
  readonly name: string;
  readonly line: number;
}

export interface FunctionFacts extends Located {
  readonly lineCount: number;
}

export interface SourceFacts {
  /** Specifiers of imports, re-exports, dynamic imports and import types. */
  readonly imports: readonly Located[];
  /** Uses of names that the file neither declares nor imports; `Math.random` as such. */
  readonly globals: readonly Located[];
  /** Async functions and `await`. */
  readonly asynchronous: readonly Located[];
  /** `#name` members. */
  readonly privateNames: readonly Located[];
  /** Names that `const` and class properties declare. */
  readonly constants: readonly Located[];
  /** Named by their declaration, property or variable, otherwise `(anonymous)`. */
  readonly functions: readonly FunctionFacts[];
  readonly types: readonly Located[];
  /**
   * Interfaces of this file with properties only that are the one parameter of a constructor or
   * start function.
   */
  readonly bags: readonly Located[];
}

interface SyntaxNode {
  readonly type: string;
  readonly span?: { readonly start: number; readonly end: number };
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on `type`
  readonly [property: string]: any;
}

const functionTypes = new Set([
  ...['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression', 'ClassMethod'],
  ...['PrivateMethod', 'Constructor', 'MethodProperty', 'GetterProperty', 'SetterProperty'],
]);

/** The contexts that the parser gives to names without a declaration in the file. */
const unresolvedContext = 1;

export function sourceFactsOf(text: string, path: string): SourceFacts {
  return new FactsReader(text, path).read();
}

class FactsReader {
  private readonly imports: Located[] = [];
  private readonly globals: Located[] = [];
  private readonly asynchronous: Located[] = [];
  private readonly privateNames: Located[] = [];
  private readonly constants: Located[] = [];
  private readonly functions: FunctionFacts[] = [];
  private readonly types: Located[] = [];
  private readonly propertyTypes = new Set<string>();
  private readonly onlyParameters: Located[] = [];
  /** Offsets in bytes, as the parser counts. */
  private readonly lineStarts: number[];

  constructor(
    private readonly text: string,
    private readonly path: string,
  ) {
    const bytes = Buffer.from(text);
    this.lineStarts = [0];
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
      this.lineStarts.push(at + 1);
    }
  }

  read(): SourceFacts {
    const syntax = this.path.endsWith('.mjs') ? 'ecmascript' : 'typescript';
    const module = parseSync(this.text, { syntax, decorators: true, target: 'es2022' });
    this.visit(module as unknown as SyntaxNode, undefined);
    return {
      imports: this.imports,
      globals: this.globals,
      asynchronous: this.asynchronous,
      privateNames: this.privateNames,
      constants: this.constants,
      functions: this.functions,
      types: this.types,
      bags: this.onlyParameters.filter(({ name }) => this.propertyTypes.has(name)),
    };
  }

  private visit(node: SyntaxNode, name: string | undefined): void {
    this.readModuleNode(node);
    this.readDeclaration(node);
    this.readName(node);
    const ownName = nameOf(node) ?? name;
    if (functionTypes.has(node.type)) this.readFunction(node, ownName);
    const childName = namesChild(node) ? ownName : undefined;
    for (const key in node) {
      const child = node[key];
      if (typeof child !== 'object' || child === null || key === 'span') continue;
      if (Array.isArray(child)) {
        for (const item of child)
          if (item !== null && typeof item === 'object')
            this.visit(item.expression ?? item, childName);
      } else this.visit(child, childName);
    }
  }

  private readModuleNode(node: SyntaxNode): void {
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportNamedDeclaration':
      case 'ExportAllDeclaration':
        if (node.source) this.add(this.imports, node.source.value, node);
        break;
      case 'TsImportType':
        this.add(this.imports, node.argument.value, node);
        break;
      case 'CallExpression': {
        const argument = node.arguments[0]?.expression;
        if (node.callee.type === 'Import' && argument?.type === 'StringLiteral') {
          this.add(this.imports, argument.value, node);
        }
      }
    }
  }

  private readDeclaration(node: SyntaxNode): void {
    switch (node.type) {
      case 'VariableDeclaration':
        if (node.kind !== 'const') break;
        for (const { id } of node.declarations) {
          if (id.type === 'Identifier') this.add(this.constants, id.value, id);
        }
        break;
      case 'ClassProperty':
        if (node.key.type === 'Identifier') this.add(this.constants, node.key.value, node.key);
        break;
      case 'TsInterfaceDeclaration':
        this.readType(node.id, node.body.body);
        break;
      case 'TsTypeAliasDeclaration':
        this.readType(node.id, node.typeAnnotation.members ?? []);
    }
  }

  private readType(id: SyntaxNode, members: readonly SyntaxNode[]): void {
    this.add(this.types, id.value, id);
    const onlyProperties = members.every((member) => member.type === 'TsPropertySignature');
    if (members.length > 1 && onlyProperties) this.propertyTypes.add(id.value);
  }

  private readName(node: SyntaxNode): void {
    switch (node.type) {
      case 'PrivateName':
        this.add(this.privateNames, `#${node.value}`, node);
        break;
      case 'AwaitExpression':
        this.add(this.asynchronous, 'await', node);
        break;
      case 'Identifier':
        if (node.ctxt === unresolvedContext) this.add(this.globals, node.value, node);
        break;
      case 'MemberExpression':
        if (node.object.value === 'Math' && node.property.value === 'random') {
          this.add(this.globals, 'Math.random', node);
        }
    }
  }

  private readFunction(node: SyntaxNode, name: string | undefined): void {
    const { start, end } = node.span!;
    const line = this.lineOf(start);
    const lineCount = this.lineOf(end - 1) - line + 1;
    this.functions.push({ name: name ?? '(anonymous)', line, lineCount });
    if (node.async || node.function?.async) this.add(this.asynchronous, 'async', node);
    const takesBag = node.type === 'Constructor' || /^(?:start|open)(?:[A-Z]|$)/.test(name ?? '');
    const type = takesBag ? onlyParameterType(node) : undefined;
    if (type) this.add(this.onlyParameters, type.value, type);
  }

  private add(list: Located[], name: string, node: SyntaxNode): void {
    list.push({ name, line: this.lineOf(node.span!.start) });
  }

  /** The line of a byte offset that starts at 1. */
  private lineOf(offset: number): number {
    let low = 0;
    let high = this.lineStarts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.lineStarts[middle]! < offset) low = middle;
      else high = middle;
    }
    return low + 1;
  }
}

function nameOf(node: SyntaxNode): string | undefined {
  const id =
    node.identifier ?? node.key ?? (node.type === 'VariableDeclarator' ? node.id : undefined);
  if (node.type === 'Constructor') return 'constructor';
  return id?.type === 'Identifier' || id?.type === 'PrivateName' ? id.value : undefined;
}

/** Whether a function that is the value of `node` is called by the node's name. */
function namesChild(node: SyntaxNode): boolean {
  return [
    'VariableDeclarator',
    'KeyValueProperty',
    'ClassProperty',
    'ParenthesisExpression',
  ].includes(node.type);
}

function onlyParameterType(node: SyntaxNode): SyntaxNode | undefined {
  const [parameter, second] = (node.function ?? node).params;
  if (second) return undefined;
  const pattern = parameter?.param ?? parameter?.pat ?? parameter;
  const typeName = pattern?.typeAnnotation?.typeAnnotation?.typeName;
  return typeName?.type === 'Identifier' ? typeName : undefined;
}
