import { z } from 'zod';
import { fileAt } from '../../sdk/src/files.ts';
import { ToolError } from './toolError.ts';

/** What names a document where the agent's files are this process's files. */
const LOCAL = {
  path: z.string().min(1).optional().describe('Path of the document on this machine.'),
};

/** What names a document wherever the agent is. */
const SENT = {
  content_base64: z.string().min(1).optional().describe('The bytes of the document in base64.'),
  file_name: z.string().min(1).max(255).optional().describe('Its name; the ending is a hint of its type.'),
};

export interface GivenDocument {
  readonly path?: string | undefined;
  readonly content_base64?: string | undefined;
  readonly file_name?: string | undefined;
}

/** Members of a tool's input that name a document; `isLocal`: files of this machine may be named. */
export const documentMembers = (isLocal: boolean) =>
  (isLocal ? { ...LOCAL, ...SENT } : SENT) as typeof LOCAL & typeof SENT;

const fromPath = async (path: string): Promise<File> => {
  try {
    return await fileAt(path);
  } catch (error) {
    throw new ToolError(`${path} cannot be read.`, { cause: error });
  }
};

/** The document that a tool was given; a path counts only where files may be named. */
export const documentOf = async (
  { path, content_base64, file_name = 'document' }: GivenDocument,
  isLocal: boolean,
): Promise<File> => {
  if (isLocal && path !== undefined) return fromPath(path);
  if (content_base64 === undefined)
    throw new ToolError(isLocal ? 'Give path or content_base64.' : 'Give content_base64.');
  return new File([Buffer.from(content_base64, 'base64')], file_name);
};
