import type { Route } from '../defineRoute.ts';

type Place = Pick<Route, 'method' | 'path' | 'rest'>;

/** Whatever serves a route. */
interface Placed {
  readonly route: Place;
}

/** What stands for a path, and the values of its parameters. */
export interface Found<Entry> {
  readonly entry: Entry;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds what stands for a method and a URL; undefined: ask Express, who knows every spelling. */
export type RouteTable<Entry> = (method: string, url: string) => Found<Entry> | undefined;

interface Pattern<Entry> {
  readonly entry: Entry;
  /** Text that has to stand there; undefined where a parameter stands. */
  readonly literals: readonly (string | undefined)[];
  readonly names: readonly { readonly at: number; readonly name: string }[];
}

/** Segments that mean themselves: nothing is encoded, empty or left over at the end. */
const PLAIN = /^(?:\/[A-Za-z0-9._~:@!$&'()*+,;=-]+)+$/;

const PARAMETER = /^\{(\w+)\}$/;

const segmentsOf = (path: string): readonly string[] => path.split('/').slice(1);

const patternOf = <Entry extends Placed>(entry: Entry): Pattern<Entry> => {
  const segments = segmentsOf(entry.route.path);
  const names = segments.map((segment) => PARAMETER.exec(segment)?.[1]);
  return {
    entry,
    literals: segments.map((segment, at) => (names[at] === undefined ? segment : undefined)),
    names: names.flatMap((name, at) => (name === undefined ? [] : [{ at, name }])),
  };
};

/** Whether a path of `pattern` can also be one of a route that takes slashes, which Express may mean first. */
const isCoveredBy = <Entry>({ literals }: Pattern<Entry>, { path }: Place): boolean => {
  const prefix = segmentsOf(path).slice(0, -1);
  return (
    literals.length > prefix.length &&
    prefix.every((segment, at) => literals[at] === undefined || literals[at] === segment)
  );
};

const matches = <Entry>({ literals }: Pattern<Entry>, segments: readonly string[]): boolean => {
  for (const [at, literal] of literals.entries())
    if (literal !== undefined && literal !== segments[at]) return false;
  return true;
};

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

const paramsOf = <Entry>({ names }: Pattern<Entry>, segments: readonly string[]) => {
  if (names.length === 0) return NO_PARAMS;
  const params: Record<string, string> = {};
  for (const { at, name } of names) params[name] = segments[at] ?? '';
  return params;
};

/** Methods as requests spell them: HEAD is answered by what answers GET. */
const methodsOf = ({ method }: Place): readonly string[] =>
  method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];

/**
 * The routes by method and number of segments, in the order in which Express would ask them: a router that
 * asks eighty patterns one after another is slower than all that is done for a balance. Paths that need
 * decoding, and routes whose parameter takes slashes, stay with Express.
 */
export const routeTable = <Entry extends Placed>(entries: readonly Entry[]): RouteTable<Entry> => {
  const bySize = new Map<string, Pattern<Entry>[]>();
  const open = entries.map(({ route }) => route).filter(({ rest }) => rest !== undefined);
  for (const entry of entries) {
    const { route } = entry;
    const pattern = patternOf(entry);
    const others = open.filter(({ method }) => method === route.method);
    if (others.some((other) => isCoveredBy(pattern, other))) continue;
    for (const method of methodsOf(route)) {
      const size = `${method} ${String(pattern.literals.length)}`;
      bySize.set(size, [...(bySize.get(size) ?? []), pattern]);
    }
  }
  return (method, url) => {
    const end = url.indexOf('?');
    const path = end < 0 ? url : url.slice(0, end);
    if (!PLAIN.test(path) || url.includes('#')) return undefined;
    const segments = segmentsOf(path);
    const pattern = bySize
      .get(`${method} ${String(segments.length)}`)
      ?.find((candidate) => matches(candidate, segments));
    return pattern && { entry: pattern.entry, params: paramsOf(pattern, segments) };
  };
};
