import type { ParseFailure } from '../../ports/documentParser.ts';
import type { OpenedDocument, SourceFile } from '../pieces/opened.ts';
import { mailOf } from './mail.ts';
import { openMessage } from './message.ts';

/** Opens a mail as it travels (RFC 5322). */
export async function openMail(file: SourceFile): Promise<OpenedDocument | ParseFailure> {
  const mail = await mailOf(file.bytes);
  return mail === undefined
    ? { kind: 'unreadable', detail: 'The mail is damaged and cannot be read.' }
    : openMessage(mail, file);
}
