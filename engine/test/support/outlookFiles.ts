import { CFB } from '@e965/xlsx';

interface Container {
  readonly FullPaths: readonly string[];
}
/** The package's own types leave this part open. */
const { utils, write } = CFB as {
  readonly utils: {
    readonly cfb_new: () => Container;
    readonly cfb_add: (container: Container, name: string, content: Buffer) => void;
  };
  readonly write: (container: Container, options: { readonly type: 'buffer' }) => Buffer;
};

/** A compound file of the given streams, by their paths. */
export function compoundOf(streams: Readonly<Record<string, Buffer>>): Buffer {
  const container = utils.cfb_new();
  for (const [path, content] of Object.entries(streams)) utils.cfb_add(container, path, content);
  return write(container, { type: 'buffer' });
}

type Properties = Readonly<Record<string, string | Buffer>>;

/** Texts are UTF-16 streams named by their property, other values bytes. */
function put(container: Container, folder: string, properties: Properties): void {
  for (const [tag, value] of Object.entries(properties)) {
    const [type, bytes] =
      typeof value === 'string' ? ['001F', Buffer.from(value, 'utf16le')] : ['0102', value];
    utils.cfb_add(container, `/${folder}__substg1.0_${tag}${type}`, bytes);
  }
}

export interface MsgContent {
  readonly properties: Properties;
  readonly recipients?: readonly { readonly kind: 1 | 2; readonly properties: Properties }[];
  readonly attachments?: readonly (Properties | AttachedMessage)[];
}

/** A message that is attached as it is, not as a file. */
export interface AttachedMessage {
  readonly message: MsgContent;
  readonly properties: Properties;
}

const isMessage = (attached: Properties | AttachedMessage): attached is AttachedMessage =>
  'message' in attached;

/** A message as Outlook saves it (MS-OXMSG). */
export function msg(content: MsgContent): Buffer {
  const container = utils.cfb_new();
  putMessage(container, '', content);
  return write(container, { type: 'buffer' });
}

/** The properties of a message begin with counts: 32 bytes of the file's own, 24 of one inside of it. */
function putMessage(
  container: Container,
  at: string,
  { properties, recipients = [], attachments = [] }: MsgContent,
): void {
  const header = Buffer.alloc(at === '' ? 32 : 24);
  header.writeUInt32LE(recipients.length, 16);
  header.writeUInt32LE(attachments.length, 20);
  utils.cfb_add(container, `/${at}__properties_version1.0`, header);
  put(container, at, properties);
  for (const [index, { kind, properties: own }] of recipients.entries()) {
    const folder = `${at}__recip_version1.0_#${index.toString(16).padStart(8, '0')}/`;
    const fixed = Buffer.alloc(8 + 16);
    fixed.writeUInt32LE(0x0c150003, 8);
    fixed.writeUInt32LE(kind, 16);
    utils.cfb_add(container, `/${folder}__properties_version1.0`, fixed);
    put(container, folder, own);
  }
  for (const [index, own] of attachments.entries()) {
    const folder = `${at}__attach_version1.0_#${index.toString(16).padStart(8, '0')}/`;
    const fixed = Buffer.alloc(8 + 16);
    fixed.writeUInt32LE(0x37050003, 8);
    fixed.writeUInt32LE(isMessage(own) ? 5 : 1, 16);
    utils.cfb_add(container, `/${folder}__properties_version1.0`, fixed);
    put(container, folder, isMessage(own) ? own.properties : own);
    if (isMessage(own)) putMessage(container, `${folder}__substg1.0_3701000D/`, own.message);
  }
}
