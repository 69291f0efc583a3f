import outlook, { type FieldsData } from '@kenjiuno/msgreader';
import iconv from 'iconv-lite';
import { z } from 'zod';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { OpenedDocument, SourceFile } from '../pieces/opened.ts';
import { decodeText } from '../text/textDocument.ts';
import { isSoundCompound } from './compoundFile.ts';
import { rtfOfBody } from './compressedRtf.ts';
import type { Attached, Mail, Mailbox } from './mail.ts';
import { mailDate } from './mailDate.ts';
import { openMessage } from './message.ts';

/** The package is CommonJS: its class is the default of what it exports. */
const MsgReader = outlook.default;

/** Opens a message as Outlook saves it. */
export function openMsg(file: SourceFile): Promise<OpenedDocument | ParseFailure> {
  let mail: Mail;
  try {
    mail = mailIn(file.bytes);
  } catch {
    return Promise.resolve({ kind: 'unreadable', detail: 'The message is damaged and cannot be read.' });
  }
  return openMessage(mail, file);
}

/** A file may give any property any type, and the package hands it on as it is: another type says nothing. */
const text = z.string().catch('');
const Recipient = z.object({
  recipType: z.enum(['to', 'cc', 'bcc']).catch('to'),
  name: text,
  smtpAddress: text,
  email: text,
});
const Message = z.object({
  subject: text,
  senderName: text,
  senderSmtpAddress: text,
  senderEmail: text,
  clientSubmitTime: text,
  messageDeliveryTime: text,
  messageId: text,
  /** As the message travelled. */
  headers: text,
  body: text,
  bodyHtml: text,
  html: z.instanceof(Uint8Array).optional().catch(undefined),
  compressedRtf: z.instanceof(Uint8Array).optional().catch(undefined),
  internetCodepage: z.number().optional().catch(undefined),
  recipients: z.array(Recipient).catch([]),
});
const Attachment = z.object({
  attachmentHidden: z.boolean().catch(false),
  pidContentId: text,
  attachMimeTag: text,
  innerMsgContent: z.literal(true).optional().catch(undefined),
});
type Message = z.infer<typeof Message>;

function mailIn(bytes: Buffer): Mail {
  if (!isSoundCompound(bytes)) throw new Error('sectors or entries lead back to themselves');
  const reader = new MsgReader(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer,
  );
  const fields = reader.getFileData();
  if (fields.error !== undefined) throw new Error(fields.error);
  const message = Message.parse(fields);
  const of = (type: 'to' | 'cc'): readonly Mailbox[] =>
    message.recipients.filter(({ recipType }) => recipType === type).map(mailboxOf);
  const { senderName, senderSmtpAddress, senderEmail } = message;
  return {
    mimeType: 'application/vnd.ms-outlook',
    subject: message.subject.trim(),
    from: [mailboxOf({ name: senderName, smtpAddress: senderSmtpAddress, email: senderEmail })],
    to: of('to'),
    cc: of('cc'),
    date: dateOf(message),
    messageId: message.messageId,
    html: htmlOf(message),
    text: message.body,
    rtf: rtfOf(message),
    attachments: (fields.attachments ?? []).flatMap((attachment) => attachedOf(attachment, reader)),
  };
}

type Named = Pick<z.infer<typeof Recipient>, 'name' | 'smtpAddress' | 'email'>;

/** Inside of an organisation, addresses are paths of a directory, which nobody reads. */
const mailboxOf = ({ name, smtpAddress, email }: Named): Mailbox => {
  const address = smtpAddress !== '' || !email.includes('@') ? smtpAddress : email;
  return { name: name === address ? '' : name, address };
};

/** Of the times that the message has, only that in its headers says which day it was for its sender. */
function dateOf({ headers, clientSubmitTime, messageDeliveryTime }: Message): string | undefined {
  const sent = mailDate(/^date:([^\n]{1,200})/im.exec(headers)?.[1] ?? '');
  if (sent !== undefined) return sent;
  const date = new Date(clientSubmitTime === '' ? messageDeliveryTime : clientSubmitTime);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function htmlOf({ bodyHtml, html, internetCodepage }: Message): string {
  if (bodyHtml !== '' || html === undefined) return bodyHtml;
  const encoding = internetCodepage === 65001 ? 'utf-8' : `cp${String(internetCodepage)}`;
  const bytes = Buffer.from(html);
  return iconv.encodingExists(encoding) ? iconv.decode(bytes, encoding) : (decodeText(bytes) ?? '');
}

/** A body in RTF is read where there is no other, as some programs write none. */
function rtfOf({ body, bodyHtml, html, compressedRtf }: Message): Buffer | undefined {
  if (compressedRtf === undefined || html !== undefined || `${body}${bodyHtml}`.trim() !== '')
    return undefined;
  return rtfOfBody(Buffer.from(compressedRtf));
}

/** Pictures that the text shows in place are no attachments of their own. */
function attachedOf(fields: FieldsData, reader: InstanceType<typeof MsgReader>): readonly Attached[] {
  const { attachmentHidden, pidContentId, attachMimeTag, innerMsgContent } = Attachment.parse(fields);
  if (attachmentHidden || (pidContentId !== '' && attachMimeTag.startsWith('image/'))) return [];
  const isMessage = innerMsgContent === true;
  const name = [fields.fileName, fields.name, fields.innerMsgContentFields?.subject]
    .map((one) => text.parse(one).trim())
    .find((one) => one !== '');
  const bytes = contentOf(fields, reader);
  return [{ name: nameOf(name ?? '', isMessage), bytes, mimeType: attachMimeTag.toLowerCase() }];
}

/** What is only named, for it lies elsewhere, has no bytes. */
function contentOf(fields: FieldsData, reader: InstanceType<typeof MsgReader>): Buffer {
  try {
    return Buffer.from(reader.getAttachment(fields).content);
  } catch {
    return Buffer.alloc(0);
  }
}

const nameOf = (fileName: string, isMessage: boolean): string | null => {
  if (fileName === '') return null;
  return isMessage && !/\.msg$/i.test(fileName) ? `${fileName}.msg` : fileName;
};
