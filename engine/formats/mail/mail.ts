import PostalMime, { type Address, type Attachment } from 'postal-mime';
import { mailDate } from './mailDate.ts';
import { markedMail } from './markedMail.ts';
import { sealedContent } from './sealed.ts';

/** A mail, whatever file it came in. */
export interface Mail {
  readonly mimeType: string;
  readonly subject: string;
  readonly from: readonly Mailbox[];
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly date: string | undefined;
  readonly messageId: string | undefined;
  /** '' where there is none. */
  readonly html: string;
  readonly text: string;
  /** A body that is neither. */
  readonly rtf?: Buffer | undefined;
  readonly attachments: readonly Attached[];
}

export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

export interface Attached {
  /** Null: it has none. */
  readonly name: string | null;
  readonly bytes: Buffer;
  /** As the mail says, in small letters; '' where it says nothing. */
  readonly mimeType: string;
}

/** A mail as it travels (RFC 5322), or a part of one; undefined where it is damaged. */
export async function mailOf(bytes: Uint8Array): Promise<Mail | undefined> {
  try {
    return await parsed(bytes);
  } catch {
    return undefined;
  }
}

async function parsed(bytes: Uint8Array): Promise<Mail> {
  const mail = await PostalMime.parse(markedMail(bytes), {
    maxNestingDepth: 20,
    maxHeadersSize: 1024 * 1024,
    attachmentEncoding: 'arraybuffer',
  });
  const { subject = '', from, to = [], cc = [], messageId, html = '', text = '', attachments } = mail;
  const sent = mail.headers.find(({ key }) => key === 'date')?.value;
  return {
    mimeType: 'message/rfc822',
    subject: withoutControls(subject).trim(),
    from: from === undefined ? [] : mailboxes([from]),
    to: mailboxes(to),
    cc: mailboxes(cc),
    date: (sent === undefined ? undefined : mailDate(sent)) ?? mail.date,
    messageId,
    html: withoutControls(html),
    text: withoutControls(text),
    attachments: attachments
      .filter((attachment) => !isDecoration(attachment))
      .map((attachment) => ({
        name: attachment.filename === null ? null : withoutControls(attachment.filename),
        bytes: bytesOf(attachment),
        mimeType: attachment.mimeType.toLowerCase(),
      })),
  };
}

const mailboxes = (addresses: readonly Address[]): readonly Mailbox[] =>
  addresses
    .flatMap((address) => (address.address === undefined ? address.group : [address]))
    .map(({ name, address }) => ({ name: withoutControls(name), address }));

/** Pictures that the HTML shows in place (logos, signatures) are no attachments of their own. */
const isDecoration = ({ related, mimeType }: Attachment): boolean =>
  related === true && mimeType.startsWith('image/');

const bytesOf = ({ content }: Attachment): Buffer =>
  typeof content === 'string'
    ? Buffer.from(content, 'utf8')
    : Buffer.from(content instanceof Uint8Array ? content : new Uint8Array(content));

const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Control characters that no mail has: bytes of Windows-1252 that were decoded as Latin-1. */
const withoutControls = (text: string): string =>
  text.replace(/[\u0080-\u009f]/g, (sign) => WINDOWS_1252.charAt(sign.charCodeAt(0) - 0x80));

/** A signature for programs to check: nobody reads it. */
const SIGNATURE = /^application\/(?:(?:x-)?pkcs7-signature|pgp-signature|pgp-encrypted)$/;
const DEPTH_MAX = 5;

/** A mail out of its envelopes, and whether one of them is locked. */
export interface Unsealed {
  readonly mail: Mail;
  readonly isEncrypted: boolean;
}

/**
 * A mail whose body and attachments are within an envelope that signs them, without that; an envelope that only its
 * receiver can open stays closed.
 */
export async function unsealed(mail: Mail, depth = 0): Promise<Unsealed> {
  const attachments = mail.attachments.filter(({ mimeType }) => !SIGNATURE.test(mimeType));
  const own = { ...mail, attachments };
  if (`${mail.html}${mail.text}`.trim() !== '' || depth > DEPTH_MAX) return { mail: own, isEncrypted: false };
  for (const attached of attachments) {
    const content = sealedContent(attached);
    if (content === undefined) continue;
    const others = attachments.filter((other) => other !== attached);
    if (content === 'encrypted') return { mail: { ...own, attachments: others }, isEncrypted: true };
    const inner = await mailOf(content);
    if (inner === undefined) continue;
    const { html, text } = inner;
    const opened = { ...own, html, text, rtf: undefined, attachments: [...inner.attachments, ...others] };
    return unsealed(opened, depth + 1);
  }
  return { mail: own, isEncrypted: false };
}
