import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** The page that has the drawings. */
const PAGE = 'docs/explanation/architecture.md';

/** What each room holds, in the order in which they are drawn: above is what imports. */
const ROOMS: Readonly<Record<string, string>> = {
  src: 'HTTP, commands, queries, CLI, wiring',
  adapters: 'databases, object stores, rates',
  projections: 'events to tables',
  domain: 'events, deciders, formulas, ports',
  engine: 'documents, a package of its own',
};

/** One import: the file that has it, and the file that it names. */
interface Import {
  readonly from: string;
  readonly to: string;
}

const IMPORTED = /^(?:import|export) [^;]*? from '(\.{1,2}\/[^']+|@quire\/engine\/[^']+)';/gm;
const ENGINE = '@quire/engine/';

const importsOf = (from: string): readonly Import[] =>
  [...readFileSync(from, 'utf8').matchAll(IMPORTED)].map(([, name = '']) => ({
    from,
    to: name.startsWith(ENGINE)
      ? `engine/${name.slice(ENGINE.length)}.ts`
      : posix.join(posix.dirname(from), name),
  }));

/** All imports of a room's sources, types too; its specs are left out. */
const importsIn = (room: string): readonly Import[] =>
  readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/^(test|node_modules|dist)\//.test(path))
    .flatMap((path) => importsOf(`${room}/${path}`));

const roomOf = (path: string): string => path.slice(0, path.indexOf('/'));

const isLoose = (path: string): boolean => path.split('/').length === 2;

/** The folder of a room that a file lies in; a file that lies loose stands for itself. */
const partOf = (path: string): string => (isLoose(path) ? path : path.split('/').slice(0, 2).join('/'));

const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)].sort();

/** Where only one folder imports, or only one file or a few folders are imported, the arrow says so. */
const restrictionOf = (imports: readonly Import[]): string => {
  const [importing, ...others] = distinct(imports.map(({ from }) => partOf(from)));
  if (others.length === 0) return `|in ${importing ?? ''} only|`;
  const [imported, ...more] = distinct(imports.map(({ to }) => to));
  if (more.length === 0) return `|${imported ?? ''} only|`;
  const parts = distinct(imports.map(({ to }) => partOf(to).slice(roomOf(to).length + 1)));
  return parts.length > 3 ? '' : `|${parts.join(', ')} only|`;
};

const drawing = (lines: readonly string[]): string =>
  ['```mermaid', 'flowchart TD', ...lines.map((line) => `  ${line}`), '```'].join('\n');

/** Rooms, and which of them imports which. */
const rooms = (): string => {
  const names = Object.keys(ROOMS);
  const arrows = names.flatMap((room) => {
    const imports = importsIn(room);
    return names
      .filter((other) => other !== room)
      .map((other) => ({ other, used: imports.filter(({ to }) => roomOf(to) === other) }))
      .filter(({ used }) => used.length > 0)
      .map(({ other, used }) => `${room} -->${restrictionOf(used)} ${other}`);
  });
  return drawing([...Object.entries(ROOMS).map(([room, what]) => `${room}["${room}: ${what}"]`), ...arrows]);
};

type Reached = ReadonlyMap<string, ReadonlySet<string>>;

const foldersOf = (room: string): Reached => {
  const inside = importsIn(room).filter(({ from, to }) => roomOf(to) === room && !isLoose(from));
  const found = new Map<string, Set<string>>();
  for (const { from, to } of inside) {
    const folders = found.get(partOf(from)) ?? new Set<string>();
    if (!isLoose(to) && partOf(to) !== partOf(from)) folders.add(partOf(to));
    found.set(partOf(from), folders);
  }
  return found;
};

/** Whether an arrow may be left out, since a longer way leads to the same folder. */
const isLedTo = (imports: Reached, by: readonly string[], to: string): boolean =>
  by.some((one) => {
    const next = [...(imports.get(one) ?? [])];
    return next.includes(to) || isLedTo(imports, next, to);
  });

/** Folders of `src`, which have no circles: an arrow to each that is imported and that no longer way leads to. */
const folders = (): string => {
  const imports = foldersOf('src');
  const arrows = [...imports].flatMap(([from, all]) =>
    [...all]
      .filter((to) => !isLedTo(imports, [...all], to))
      .map((to) => `${from.slice('src/'.length)} --> ${to.slice('src/'.length)}`),
  );
  return drawing([...arrows].sort());
};

const between = (name: string): RegExp =>
  new RegExp(`(?<=<!-- npm run generate: ${name} -->\n\n).*?(?=\n\n<!-- end of ${name} -->)`, 's');

/** The page of the architecture with its drawings as the imports are. */
export const architectureDrawings = (): ReadonlyMap<string, string> => {
  let page = readFileSync(PAGE, 'utf8');
  for (const [name, text] of Object.entries({ rooms: rooms(), folders: folders() })) {
    if (!between(name).test(page)) throw new Error(`${PAGE} has no place for the drawing of ${name}`);
    page = page.replace(between(name), () => text);
  }
  return new Map([[PAGE, page]]);
};
