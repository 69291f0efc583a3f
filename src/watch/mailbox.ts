import { createHash } from 'node:crypto';
import { ImapFlow, type MessageStructureObject } from 'imapflow';
import { OperatorError } from '../clientConfig.ts';
import type { Arrival, Results, Source } from './places.ts';

/** A mailbox and the user who opens it. */
export interface MailAddress {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte on; else STARTTLS before the password. */
  readonly secure: boolean;
  readonly user: string;
  readonly mailbox: string;
  /** As people are told of it, and part of the keys of its documents: port and TLS may change. */
  readonly shown: string;
}

const wrong = (rule: string): OperatorError =>
  new OperatorError(`${rule} A mailbox is given as imaps://<user>@<host>/<mailbox>.`, 2);

/** Reads `imaps://<user>@<host>:<port>/<mailbox>`. Throws OperatorError. */
export const mailAddressOf = (given: string): MailAddress => {
  if (!URL.canParse(given)) throw wrong('The address of the mailbox cannot be read.');
  const { protocol, username, password, hostname, port, pathname } = new URL(given);
  if (password !== '')
    throw wrong('Others can see a password in an address: set WATCH_IMAP_PASSWORD instead.');
  if (username === '' || hostname === '') throw wrong('Name user and host.');
  const user = decodeURIComponent(username);
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '');
  const path = decodeURIComponent(pathname.slice(1));
  const mailbox = path === '' || path.toUpperCase() === 'INBOX' ? 'INBOX' : path;
  const secure = protocol === 'imaps:';
  const shown = `${mailbox} of ${user} at ${host}`;
  return { host, port: port === '' ? (secure ? 993 : 143) : Number(port), secure, user, mailbox, shown };
};

/** A part of a message that is a document. */
export interface MailPart {
  /** Its number in the message; undefined: the message itself. */
  readonly part: string | undefined;
  readonly file_name: string;
}

const SIGNATURE = /^application\/(?:(?:x-)?pkcs7-signature|pgp-signature|pgp-encrypted)$/;
/** Parts that are read with the message: its text, an invitation in it, what a server reports. */
const BODY = /^(?:text\/|message\/(?!rfc822))/;

const nameOf = ({ type, dispositionParameters, parameters }: MessageStructureObject): string | undefined =>
  dispositionParameters?.['filename'] ?? parameters?.['name'] ?? (BODY.test(type) ? undefined : typed(type));

const typed = (type: string): string =>
  type === 'message/rfc822' ? 'mail.eml' : `attachment.${type.slice(type.indexOf('/') + 1)}`;

const attachmentsOf = (node: MessageStructureObject, isRelated = false): readonly MailPart[] => {
  const type = node.type.toLowerCase();
  if (type.startsWith('multipart/'))
    return (node.childNodes ?? []).flatMap((child) => attachmentsOf(child, type === 'multipart/related'));
  const file_name = nameOf(node) ?? (node.disposition === 'attachment' ? typed(type) : undefined);
  // Pictures that the text shows in place (logos, signatures) are no documents.
  const isDecoration = SIGNATURE.test(type) || (isRelated && type.startsWith('image/'));
  return file_name === undefined || isDecoration ? [] : [{ part: node.part, file_name }];
};

const WHOLE: MailPart = { part: undefined, file_name: 'mail.eml' };

/** What is sent of a message: its attachments, or the message itself if it has none or is nothing else. */
export const partsOf = (structure: MessageStructureObject | undefined): readonly MailPart[] => {
  const found = structure?.childNodes === undefined ? [] : attachmentsOf(structure);
  return found.length === 0 ? [WHOLE] : found;
};

const NAME_CHARACTERS_MAX = 80;
const plainName = (text: string): string => text.replace(/[^\w.-]/g, '_').slice(-NAME_CHARACTERS_MAX);

/** The folder of the results of a mailbox: no other one has it, whatever else lies there. */
export const folderOf = ({ mailbox, shown }: MailAddress): string =>
  `${plainName(mailbox).replace(/^\./, '_')}-${createHash('sha256').update(shown).digest('hex').slice(0, 12)}`;

/** The name of a document: it never means another one, for UIDs are not used twice under one UIDVALIDITY. */
export const documentName = (folder: string, uid: number, { part, file_name }: MailPart): string =>
  `${folder}/${String(uid)}/${part === undefined ? file_name : `${part}-${plainName(file_name)}`}`;

interface MailboxOptions {
  readonly password: string | undefined;
  /** Where messages go that are done; undefined: nothing is moved. */
  readonly moveTo: string | undefined;
  /** The day from which on messages count, YYYY-MM-DD. */
  readonly since: string | undefined;
}

/** The members of the library's errors that are read here. */
interface ImapFault {
  readonly code?: string;
  readonly authenticationFailed?: boolean;
  readonly mailboxMissing?: boolean;
  readonly serverResponseCode?: string;
  readonly responseText?: string;
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/;

/** A fault as people are told of it. Those that the operator has to put right end the command. */
const toldOf = (error: unknown, { shown }: MailAddress): Error => {
  if (!(error instanceof Error) || error instanceof OperatorError) return error as Error;
  const { code = '', responseText, ...fault } = error as Error & ImapFault;
  const said = responseText ?? (code === '' ? error.message : `${error.message}, ${code}`);
  if (fault.authenticationFailed === true && fault.serverResponseCode !== 'UNAVAILABLE')
    return new OperatorError(`${shown}: the server refuses the user or WATCH_IMAP_PASSWORD (${said}).`);
  if (fault.mailboxMissing === true) return new OperatorError(`${shown}: there is no such mailbox.`);
  if (CERTIFICATE.test(code))
    return new OperatorError(
      `${shown}: the certificate of the server does not hold (${said}). NODE_EXTRA_CA_CERTS names a file with ` +
        'the authority that signed it.',
    );
  return new Error(`${shown}: the server is away (${said}).`);
};

const checkMove = async (client: ImapFlow, mailbox: string, moveTo: string): Promise<void> => {
  if (moveTo === mailbox) throw new OperatorError('--move-to names the mailbox that is watched.', 2);
  if (!client.capabilities.has('MOVE'))
    throw new OperatorError('The server cannot move messages: leave --move-to out.');
  const folders = await client.list();
  if (!folders.some(({ path }) => path === moveTo))
    throw new OperatorError(`${moveTo}: there is no such mailbox to move messages to.`);
};

const CONNECT_MS = 20_000;

/** A connection on which the mailbox is open, to be read only unless messages are moved. */
const connected = async (address: MailAddress, { password, moveTo }: MailboxOptions): Promise<ImapFlow> => {
  const { host, port, secure, user, mailbox } = address;
  if (password === undefined)
    throw new OperatorError('Set WATCH_IMAP_PASSWORD to the password of the mailbox.', 2);
  const client = new ImapFlow({
    host,
    port,
    secure,
    ...(!secure && { doSTARTTLS: true }),
    auth: { user, pass: password },
    logger: false,
    connectionTimeout: CONNECT_MS,
  });
  // The command that is under way fails with it, too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    if (moveTo !== undefined) await checkMove(client, mailbox, moveTo);
    await client.mailboxOpen(mailbox, { readOnly: moveTo === undefined });
    return client;
  } catch (error) {
    client.close();
    throw error;
  }
};

/** UIDs of one command: a server takes lines of 8,000 characters. */
const UIDS_AT_ONCE = 500;

const inRuns = (uids: readonly number[]): readonly string[] =>
  Array.from({ length: Math.ceil(uids.length / UIDS_AT_ONCE) }, (_, n) =>
    uids.slice(n * UIDS_AT_ONCE, (n + 1) * UIDS_AT_ONCE).join(','),
  );

const UID = { uid: true } as const;

/** The messages that count; adds their parts to `known`. */
const listedIn = async (
  client: ImapFlow,
  since: string | undefined,
  known: Map<number, readonly MailPart[]>,
): Promise<readonly number[]> => {
  const uids = await client.search({ deleted: false, ...(since !== undefined && { since }) }, UID);
  if (!Array.isArray(uids)) throw new Error('The server did not list its messages.');
  for (const run of inRuns(uids.filter((uid) => !known.has(uid))))
    for await (const { uid, bodyStructure } of client.fetch(run, { uid: true, bodyStructure: true }, UID))
      known.set(uid, partsOf(bodyStructure));
  return uids.filter((uid) => known.has(uid));
};

/** undefined: the message is no longer there. */
const bytesOf = async (
  client: ImapFlow,
  uid: number,
  part: string | undefined,
): Promise<Uint8Array | undefined> => {
  const range = String(uid);
  if (part === undefined) {
    const found = await client.fetchOne(range, { source: true }, UID);
    if (found !== false) return found.source;
  } else {
    const { [part]: found } = await client.downloadMany(range, [part], UID);
    if (found !== undefined) return found.content ?? new Uint8Array();
  }
  if (!client.usable) throw new Error('The connection was lost.');
  return undefined;
};

/** The UIDVALIDITY of the open mailbox. Throws OperatorError if results are of another one. */
const validityIn = (client: ImapFlow, address: MailAddress, earlier: Iterable<string>): string => {
  if (client.mailbox === false) throw new Error('The server has closed the mailbox.');
  const validity = String(client.mailbox.uidValidity);
  for (const other of earlier)
    if (other !== validity)
      throw new OperatorError(
        `${address.shown}: the server has numbered its messages anew (UIDVALIDITY ${other} became ${validity}), ` +
          'so it is unknown which are done. Name another place by --out, and by --since the first day to be sent.',
      );
  return validity;
};

const validitiesOf = (folder: string, results: Results): ReadonlySet<string> =>
  new Set(
    [...results.keys()].flatMap((name) =>
      name.startsWith(`${folder}/`) ? [name.slice(folder.length + 1).split('/', 1)[0] ?? ''] : [],
    ),
  );

/** One connection at a time, which is made anew once it was lost; the server may not have numbered anew meanwhile. */
const connection = (address: MailAddress, options: MailboxOptions) => {
  let opening: Promise<ImapFlow> | undefined;
  let seen: readonly string[] = [];
  const begin = async (): Promise<ImapFlow> => {
    try {
      const client = await connected(address, options);
      client.once('close', () => (opening = undefined));
      seen = [validityIn(client, address, seen)];
      return client;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };
  return {
    open: (): Promise<ImapFlow> => (opening ??= begin()),
    close: (): void => void opening?.then((client) => client.close()).catch(() => undefined),
  };
};

const RESULT = '.json';

/** Messages of a mailbox: each attachment is a document, with a result named by UIDVALIDITY, UID and part. */
export const mailboxSource = (given: string, options: MailboxOptions): Source => {
  const address = mailAddressOf(given);
  const { open, close } = connection(address, options);
  const folder = folderOf(address);
  const known = new Map<number, readonly MailPart[]>();
  let listed = new Map<number, readonly Arrival[]>();

  const arrivalOf = (uid: number, id: string, { part, file_name }: MailPart): Arrival => ({
    id,
    file_name,
    result: `${id}${RESULT}`,
    modifiedMs: 0,
    read: async () => bytesOf(await open(), uid, part),
    isReplaced: () => Promise.resolve(false),
  });

  const arrivals: Source['arrivals'] = async (results) => {
    const client = await open();
    const below = `${folder}/${validityIn(client, address, validitiesOf(folder, results))}`;
    const uids = await listedIn(client, options.since, known);
    listed = new Map(
      uids.map((uid) => {
        const parts = known.get(uid) ?? [];
        return [uid, parts.map((part) => arrivalOf(uid, documentName(below, uid, part), part))];
      }),
    );
    return [...listed.values()].flat();
  };

  const { moveTo } = options;
  const clear = async (results: Results): Promise<void> => {
    const done = [...listed].flatMap(([uid, parts]) =>
      parts.every(({ result }) => results.has(result)) ? [uid] : [],
    );
    for (const run of inRuns(done))
      if (!(await (await open()).messageMove(run, moveTo ?? '', UID)))
        throw new Error(`The server did not move messages to ${String(moveTo)}.`);
  };

  const told =
    <Given, Found>(work: (given: Given) => Promise<Found>) =>
    async (given: Given): Promise<Found> => {
      try {
        return await work(given);
      } catch (error) {
        throw toldOf(error, address);
      }
    };
  return {
    shown: address.shown,
    arrivals: told(arrivals),
    clear: moveTo === undefined ? undefined : told(clear),
    close,
  };
};
