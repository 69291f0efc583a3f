import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DocumentSource, SourceAddress } from '../../../domain/ports/services.ts';
import type { BytesInFlight } from '../work/bytesInFlight.ts';
import type { ReceivedFile } from '../work/work.ts';
import { fileTooLarge, misfit, tooMuchInFlight, workProblem, type WorkProblem } from '../work/workProblem.ts';
import { TooManyBytes, writeDigested } from './writeDigested.ts';

export interface SourceDeps {
  /** undefined where this installation fetches nothing. */
  readonly source: DocumentSource | undefined;
  /** Whether a caller may make us connect to it, and where that leads. */
  readonly checkSource: (
    url: string,
  ) => Promise<
    ({ readonly kind: 'ok' } & SourceAddress) | { readonly kind: 'unsafe'; readonly detail: string }
  >;
  /** A folder that exists; files in it are named at random. */
  readonly dir: string;
  readonly bytesMax: number;
  readonly inFlight: BytesInFlight;
}

/** Where a document is to be fetched from, for whom, and where the request says so. */
export interface SourceRequest {
  readonly source_url: string;
  readonly at: readonly string[];
  readonly tenant_id: string;
  readonly signal: AbortSignal;
}

/** Most time that a document may take to come, ms: fifty megabytes by a line of seven megabits. */
const FETCH_MS = 60_000;
const FILE_NAME_MAX = 255;

const off = (at: readonly string[]): WorkProblem =>
  misfit(at, 'This installation fetches no documents from elsewhere: send the file itself.');

const unavailable = (detail: string, source_status: number | null): WorkProblem =>
  workProblem('source_unavailable', detail, { source_status });

/** The last part of the path: a hint, never trusted. */
const nameIn = ({ pathname }: URL): string | null => {
  const last = pathname.split('/').at(-1) ?? '';
  try {
    const name = decodeURIComponent(last).replace(/[\u0000-\u001f\u007f/\\]/g, '');
    return name === '' ? null : name.slice(0, FILE_NAME_MAX);
  } catch {
    return null;
  }
};

const fetched = async (
  { source, bytesMax, dir }: SourceDeps & { readonly source: DocumentSource },
  address: SourceAddress,
  signal: AbortSignal,
): Promise<ReceivedFile | WorkProblem> => {
  const path = join(dir, `source-${randomUUID()}`);
  try {
    const answer = await source.open(address, signal);
    if (answer.kind === 'unavailable') return unavailable(answer.detail, answer.status);
    if ((answer.length ?? 0) > bytesMax) return fileTooLarge(bytesMax);
    const file = await writeDigested(answer.bytes, path, bytesMax);
    if (file.bytes === 0) throw new EmptySource('nothing came');
    return { ...file, file_name: nameIn(address.url) };
  } catch (error) {
    await rm(path, { force: true });
    if (error instanceof TooManyBytes) return fileTooLarge(bytesMax);
    if (error instanceof EmptySource)
      return workProblem('empty_file', 'The document at source_url is empty.');
    return unavailable('The document at source_url did not come whole, or took too long.', null);
  }
};

class EmptySource extends Error {
  override readonly name = 'EmptySource';
}

/**
 * Brings a document that lies elsewhere to this machine, within the bytes that a tenant may have on their way, and
 * does work on it. A caller that leaves ends the transfer.
 */
export const withSource = async <T>(
  deps: SourceDeps,
  { source_url, at, tenant_id, signal: caller }: SourceRequest,
  work: (file: ReceivedFile) => Promise<T>,
): Promise<T | WorkProblem> => {
  const { source, inFlight, bytesMax } = deps;
  if (source === undefined) return off(at);
  const address = await deps.checkSource(source_url);
  if (address.kind === 'unsafe') return workProblem('unsafe_source_url', address.detail);
  const arrived = inFlight.take(tenant_id, bytesMax);
  if (arrived === undefined) return tooMuchInFlight(inFlight.max);
  try {
    // A document that is refused by its length is not read: the connection ends with the request.
    const done = new AbortController();
    const signal = AbortSignal.any([caller, AbortSignal.timeout(FETCH_MS), done.signal]);
    const file = await fetched({ ...deps, source }, address, signal).finally(() => done.abort());
    if ('kind' in file) return file;
    return await work(file).finally(() => rm(file.path, { force: true }));
  } finally {
    arrived();
  }
};
