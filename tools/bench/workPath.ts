import { Session } from 'node:inspector/promises';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a piece of work ran through in this process: a file, and the names of its functions that were called. */
export interface PathFile {
  readonly file: string;
  readonly functions: readonly string[];
}

/** Root of the compiled project. */
const DIST = fileURLToPath(new URL('../..', import.meta.url));

/** The service's own code, as its path under the root; undefined for packages, specs and Node. */
const ownFile = (url: string): string | undefined => {
  if (!url.startsWith('file:')) return undefined;
  const file = relative(DIST, fileURLToPath(url)).split(sep).join('/');
  return file.startsWith('..') || file.startsWith('test/') ? undefined : file;
};

/** A function of a file, by its name and where it begins. */
interface Called {
  readonly file: string;
  readonly name: string;
  readonly at: number;
}

const keyOf = ({ file, at }: Called): string => `${file} ${String(at)}`;

/** The functions that one run of `work` calls, by V8's own count. */
const calledBy = async (session: Session, work: () => Promise<void>): Promise<readonly Called[]> => {
  // What was called before is not counted.
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result.flatMap(({ url, functions }) => {
    const file = ownFile(url);
    if (file === undefined) return [];
    return functions.flatMap(({ functionName: name, ranges: [range] }) =>
      range === undefined || range.count === 0 ? [] : [{ file, name, at: range.startOffset }],
    );
  });
};

/** What each of `runs` runs of `work` calls: what timers happen to do meanwhile is not in all of them. */
export const pathOf = async (work: () => Promise<void>, runs: number): Promise<readonly PathFile[]> => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let called = await calledBy(session, work);
  for (let run = 2; run <= runs; run += 1) {
    const again = new Set((await calledBy(session, work)).map(keyOf));
    called = called.filter((one) => again.has(keyOf(one)));
  }
  session.disconnect();
  const files = new Map<string, string[]>();
  for (const { file, name } of called) files.set(file, [...(files.get(file) ?? []), name]);
  return [...files]
    .map(([file, functions]) => ({ file, functions }))
    .sort((a, b) => a.file.localeCompare(b.file));
};
