/** Signatures of everything that the package exports, in a stable order. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const printer = ts.createPrinter({ removeComments: true });

/** `entries`: built declaration file by subpath. Returns the declarations of all exports, and of further types that these refer to. */
export function apiReport(entries: Readonly<Record<string, string>>): string {
  const files = Object.values(entries).map((file) => join(ROOT, file));
  const program = ts.createProgram(files, { ...compilerOptions(), noEmit: true });
  const checker = program.getTypeChecker();
  const resolved = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const literals = (symbol: ts.Symbol): string | undefined => literalUnion(checker, symbol);
  const section = (title: string, symbols: readonly ts.Symbol[]): string => {
    const texts = symbols
      .map((symbol): [string, string] => [symbol.name, literals(symbol) ?? symbol.declarations!.map(textOf).join('\n')])
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return [`# ${title}`, ...texts.map(([, text]) => text), ''].join('\n');
  };
  const exported = new Set<ts.Symbol>();
  const sections = Object.entries(entries).map(([subpath, file]) => {
    const source = program.getSourceFile(join(ROOT, file))!;
    const module = checker.getSymbolAtLocation(source);
    const symbols = (module === undefined ? [] : checker.getExportsOfModule(module)).map(resolved);
    for (const symbol of symbols) exported.add(symbol);
    return section(subpath, symbols);
  });
  const inner = new Set<ts.Symbol>();
  const visitAll = (symbol: ts.Symbol): void => {
    if (literals(symbol) === undefined) symbol.declarations!.forEach(visit);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const found = checker.getSymbolAtLocation(node);
      const symbol = found && resolved(found);
      if (symbol !== undefined && isOurs(symbol) && !exported.has(symbol) && !inner.has(symbol)) {
        inner.add(symbol);
        visitAll(symbol);
      }
    }
    ts.forEachChild(node, (child) => void (isPrivate(child) || visit(child)));
  };
  for (const symbol of exported) visitAll(symbol);
  return [...sections, section('not exported, but part of these signatures', [...inner])].join('\n');
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  return options;
}

/** Returns the members of an alias like `keyof typeof TABLE`, which its declaration does not show. */
function literalUnion(checker: ts.TypeChecker, symbol: ts.Symbol): string | undefined {
  if ((symbol.flags & ts.SymbolFlags.TypeAlias) === 0) return undefined;
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  if (!type.isUnion() || !type.types.every((one) => one.isStringLiteral() || one.isNumberLiteral())) return undefined;
  const members = type.types.map((one) => checker.typeToString(one)).sort();
  return `type ${symbol.name} = ${members.join(' | ')};`;
}

function textOf(node: ts.Node): string {
  const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  const source = node.getSourceFile();
  const { transformed } = ts.transform(statement, [
    (context) => (root) => {
      const publicOnly = (inner: ts.Node): ts.Node | undefined =>
        isPrivate(inner) ? undefined : ts.visitEachChild(inner, publicOnly, context);
      return publicOnly(root)!;
    },
  ]);
  return printer
    .printNode(ts.EmitHint.Unspecified, transformed[0]!, source)
    .replace(/^export (default )?/, '')
    .replace(/^declare /, '');
}

function isPrivate(node: ts.Node): boolean {
  if (!ts.isClassElement(node)) return false;
  const hasName = node.name !== undefined && ts.isPrivateIdentifier(node.name);
  return hasName || (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) !== 0;
}

/** Declared at the top level of a file of the package. */
function isOurs({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some((node) => {
    const isTop = ts.isSourceFile(node.parent) || ts.isVariableDeclaration(node);
    return isTop && dirname(node.getSourceFile().fileName).startsWith(join(ROOT, 'dist'));
  });
}
