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
