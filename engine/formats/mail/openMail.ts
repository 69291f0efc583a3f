import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { OpenedDocument, SourceFile } from '../pieces/opened.ts';
import { openMessage, type Mailbox } from './message.ts';

/** Opens a mail as it travels (RFC 5322). */
export async function openMail(file: SourceFile): Promise<OpenedDocument | ParseFailure> {
  let mail: Email;
  try {
    mail = await PostalMime.parse(file.bytes, {
      maxNestingDepth: 20,
      maxHeadersSize: 1024 * 1024,
      attachmentEncoding: 'arraybuffer',
    });
  } catch {
    return { kind: 'unreadable', detail: 'The mail is damaged and cannot be read.' };
  }
  const { subject = '', from, to = [], cc = [], date, messageId, html = '', text = '', attachments } = mail;
  const message = {
    mimeType: 'message/rfc822',
    subject: subject.trim(),
    from: from === undefined ? [] : mailboxes([from]),
    to: mailboxes(to),
    cc: mailboxes(cc),
    date,
    messageId,
    html,
    text,
    attachments: attachments
      .filter((attachment) => !isDecoration(attachment))
      .map((attachment) => ({ name: attachment.filename, bytes: bytesOf(attachment) })),
  };
  return openMessage(message, file);
}

const mailboxes = (addresses: readonly Address[]): readonly Mailbox[] =>
  addresses
    .flatMap((address) => (address.address === undefined ? address.group : [address]))
    .map(({ name, address }) => ({ name, address }));

/** Pictures that the HTML shows in place (logos, signatures) are no attachments of their own. */
const isDecoration = ({ related, mimeType }: Attachment): boolean =>
  related === true && mimeType.startsWith('image/');

const bytesOf = ({ content }: Attachment): Buffer =>
  typeof content === 'string'
    ? Buffer.from(content, 'utf8')
    : Buffer.from(content instanceof Uint8Array ? content : new Uint8Array(content));
