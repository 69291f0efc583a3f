import outlook, { type FieldsData } from '@kenjiuno/msgreader';
import iconv from 'iconv-lite';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { OpenedDocument, SourceFile } from '../opened.ts';
import { decodeText } from '../text/decodeText.ts';
import { openMessage, type Attached, type Mail, type Mailbox } from './message.ts';

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

function mailIn(bytes: Buffer): Mail {
  const reader = new MsgReader(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer,
  );
  const fields = reader.getFileData();
  if (fields.error !== undefined) throw new Error(fields.error);
  const { recipients = [], attachments = [] } = fields;
  const of = (type: FieldsData['recipType']): readonly Mailbox[] =>
    recipients.filter(({ recipType = 'to' }) => recipType === type).map(mailboxOf);
  return {
    mimeType: 'application/vnd.ms-outlook',
    subject: (fields.subject ?? '').trim(),
    from: [
      { name: fields.senderName ?? '', address: fields.senderSmtpAddress ?? smtpOnly(fields.senderEmail) },
    ],
    to: of('to'),
    cc: of('cc'),
    date: dateOf(fields),
    html: htmlOf(fields),
    text: fields.body ?? '',
    attachments: attachments.flatMap((attachment) => attachedOf(attachment, reader)),
  };
}

const mailboxOf = ({ name = '', smtpAddress, email }: FieldsData): Mailbox => {
  const address = smtpAddress ?? smtpOnly(email);
  return { name: name === address ? '' : name, address };
};

/** Inside of an organisation, addresses are paths of a directory, which nobody reads. */
const smtpOnly = (address = ''): string => (address.includes('@') ? address : '');

function dateOf({ clientSubmitTime, messageDeliveryTime }: FieldsData): string | undefined {
  const date = new Date(clientSubmitTime ?? messageDeliveryTime ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function htmlOf({ bodyHtml, html, internetCodepage }: FieldsData): string {
  if (bodyHtml !== undefined) return bodyHtml;
  if (html === undefined) return '';
  const encoding = internetCodepage === 65001 ? 'utf-8' : `cp${String(internetCodepage)}`;
  const bytes = Buffer.from(html);
  return iconv.encodingExists(encoding) ? iconv.decode(bytes, encoding) : (decodeText(bytes) ?? '');
}

/** Pictures that the text shows in place are no attachments of their own. */
function attachedOf(attachment: FieldsData, reader: InstanceType<typeof MsgReader>): readonly Attached[] {
  const { attachmentHidden = false, pidContentId = '', attachMimeTag = '', innerMsgContent } = attachment;
  if (attachmentHidden || (pidContentId !== '' && attachMimeTag.startsWith('image/'))) return [];
  const { fileName, content } = reader.getAttachment(attachment);
  return [{ name: nameOf(fileName, innerMsgContent === true), bytes: Buffer.from(content) }];
}

const nameOf = (fileName: string, isMessage: boolean): string | null => {
  if (fileName === '') return null;
  return isMessage && !/\.msg$/i.test(fileName) ? `${fileName}.msg` : fileName;
};
