import { isProblem, UnexpectedAnswerError, type Api } from '@quire/client';
import { Uploads, type UploadOptions } from '../../../sdk/src/uploads.ts';
import { api } from './connection.ts';
import { connection } from './send.ts';
import { LostConnectionError } from './faults.ts';

/**
 * Where this page reaches the place of an upload: the service names itself by one address, and the page may have
 * been opened at another of it (`localhost`), beyond which its policy sends nothing. A store's own address stays.
 */
const reached = (given: string): string => {
  const { pathname, search, searchParams } = new URL(given);
  const isStores = searchParams.has('X-Amz-Signature');
  return isStores ? given : `${window.location.origin}${pathname}${search}`;
};

const presignUpload: Api['presignUpload'] = async (input, options) => {
  const place = await api.presignUpload(input, options);
  return { ...place, upload_url: reached(place.upload_url) };
};

const uploads = new Uploads({ ...api, presignUpload }, connection, undefined);

/** Sends a file to the service, or to its store, and gives its names; a lost connection is told as such. */
export const sendUpload = async (
  file: File,
  options: UploadOptions & { readonly tenant_id: string },
): ReturnType<Uploads['send']> => {
  try {
    return await uploads.send(file, options);
  } catch (error) {
    const isTold = isProblem(error) || error instanceof UnexpectedAnswerError;
    if (isTold || error instanceof LostConnectionError || options.signal?.aborted === true) throw error;
    throw new LostConnectionError(error);
  }
};

/** A document and what should be read from it, as a training takes it. */
interface Example {
  readonly document_id: string;
  readonly expected: Readonly<Record<string, unknown>>;
}

interface Kept extends Example {
  /** Tells a file of this browser from others: one that is kept again is not sent again. */
  readonly source: string;
}

/** Examples of a browser session, by tenant: the next person at this window may act for another. */
const keyOf = (tenantId: string): string => `quire.examples.${tenantId}`;

const keptOf = (tenantId: string): readonly Kept[] => {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(keyOf(tenantId)) ?? '[]');
    return Array.isArray(kept) ? (kept as readonly Kept[]) : [];
  } catch {
    return [];
  }
};

/** The examples that were kept for a tenant in this browser session. */
export const keptExamples = (tenantId: string): readonly Example[] =>
  keptOf(tenantId).map(({ document_id, expected }) => ({ document_id, expected }));

/** Keeps an example; one of the same file takes its place. Trainings read uploads, so the file becomes one. */
export const keepExample = async (
  tenantId: string,
  { file, expected }: { readonly file: File; readonly expected: Example['expected'] },
): Promise<readonly Example[]> => {
  const source = `${file.name} ${String(file.size)} ${String(file.lastModified)}`;
  const known = keptOf(tenantId).find((kept) => kept.source === source);
  const { document_id } = known ?? (await sendUpload(file, { tenant_id: tenantId }));
  const others = keptOf(tenantId).filter((kept) => kept.source !== source);
  sessionStorage.setItem(keyOf(tenantId), JSON.stringify([...others, { source, document_id, expected }]));
  return keptExamples(tenantId);
};
