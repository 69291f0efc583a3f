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
  readonly attachments?: readonly Properties[];
}

/** A message as Outlook saves it (MS-OXMSG). */
export function msg({ properties, recipients = [], attachments = [] }: MsgContent): Buffer {
  const container = utils.cfb_new();
  const header = Buffer.alloc(32);
  header.writeUInt32LE(recipients.length, 16);
  header.writeUInt32LE(attachments.length, 20);
  utils.cfb_add(container, '/__properties_version1.0', header);
  put(container, '', properties);
  for (const [index, { kind, properties: own }] of recipients.entries()) {
    const folder = `__recip_version1.0_#${index.toString(16).padStart(8, '0')}/`;
    const fixed = Buffer.alloc(8 + 16);
    fixed.writeUInt32LE(0x0c150003, 8);
    fixed.writeUInt32LE(kind, 16);
    utils.cfb_add(container, `/${folder}__properties_version1.0`, fixed);
    put(container, folder, own);
  }
  for (const [index, own] of attachments.entries()) {
    const folder = `__attach_version1.0_#${index.toString(16).padStart(8, '0')}/`;
    utils.cfb_add(container, `/${folder}__properties_version1.0`, Buffer.alloc(8));
    put(container, folder, own);
  }
  return write(container, { type: 'buffer' });
}
