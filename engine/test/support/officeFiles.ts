import { strToU8, zipSync } from 'fflate';
import type { Opener, SourceFile } from '../../formats/pieces/opened.ts';
import { markdownOf } from '../../document/markdown.ts';
import type { Document } from '../../document/document.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';

const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';

/** An archive of texts or bytes by their names; the type that a file declares is stored as it is. */
export const zipOf = (parts: Readonly<Record<string, string | Uint8Array>>): Buffer =>
  Buffer.from(
    zipSync(
      Object.fromEntries(
        Object.entries(parts).map(([name, text]) => [
          name,
          [typeof text === 'string' ? strToU8(text) : text, { level: name === 'mimetype' ? 0 : 6 }] as const,
        ]),
      ),
    ),
  );

const wordPart = (name: string, content: string): string =>
  `<?xml version="1.0"?><w:${name} xmlns:w="${W}" xmlns:r="${OFFICE}/relationships" xmlns:m="${OFFICE}/math"
    xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml"
    xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">${content}</w:${name}>`;

export interface DocxContent {
  readonly body: string;
  readonly styles?: string;
  readonly numbering?: string;
  readonly footnotes?: string;
  readonly endnotes?: string;
  readonly links?: Readonly<Record<string, string>>;
  /** Headers, footers and other parts: their kind and inner XML by their relationship id. */
  readonly parts?: Readonly<
    Record<string, readonly [kind: 'header' | 'footer' | 'settings', content: string]>
  >;
  /** Documents that stand in this one as a whole, by their relationship id: their name and bytes. */
  readonly chunks?: Readonly<Record<string, readonly [name: string, content: Uint8Array]>>;
  /** Other members, or other contents of these. */
  readonly members?: Readonly<Record<string, string>>;
}

const ROOTS = { header: 'hdr', footer: 'ftr', settings: 'settings' } as const;

/** A Word document of the given inner XML of its parts. */
export function docx({
  body,
  links = {},
  members = {},
  parts: more = {},
  chunks = {},
  ...others
}: DocxContent): Buffer {
  const parts = (['styles', 'numbering', 'footnotes', 'endnotes'] as const).flatMap((name) => {
    const content = others[name];
    return content === undefined ? [] : [{ name, content }];
  });
  const relationship = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${OFFICE}/relationships/${type}" Target="${target}"`;
  return zipOf({
    '_rels/.rels':
      `<Relationships xmlns="${PACKAGE}">` +
      `${relationship('d', 'officeDocument', 'word/document.xml')}/></Relationships>`,
    'word/document.xml': wordPart('document', `<w:body>${body}</w:body>`),
    'word/_rels/document.xml.rels': `<Relationships xmlns="${PACKAGE}">${[
      ...parts.map(({ name }) => `${relationship(name, name, `${name}.xml`)}/>`),
      ...Object.entries(links).map(
        ([id, target]) => `${relationship(id, 'hyperlink', target)} TargetMode="External"/>`,
      ),
      ...Object.entries(more).map(([id, [kind]]) => `${relationship(id, kind, `${id}.xml`)}/>`),
      ...Object.entries(chunks).map(([id, [name]]) => `${relationship(id, 'aFChunk', name)}/>`),
    ].join('')}</Relationships>`,
    ...Object.fromEntries(parts.map(({ name, content }) => [`word/${name}.xml`, wordPart(name, content)])),
    ...Object.fromEntries(
      Object.entries(more).map(([id, [kind, content]]) => [`word/${id}.xml`, wordPart(ROOTS[kind], content)]),
    ),
    ...Object.fromEntries(Object.values(chunks).map(([name, content]) => [`word/${name}`, content])),
    ...members,
  });
}

/** A paragraph of runs; a text stands for a plain run, other XML for itself. */
export const p = (content: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr>${content.startsWith('<') ? content : r(content)}</w:p>`;
export const r = (text: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;

export const OASIS = 'urn:oasis:names:tc:opendocument:xmlns';
const ODT_NAMESPACES = `${Object.entries({
  office: 'office',
  text: 'text',
  table: 'table',
  draw: 'drawing',
  style: 'style',
  fo: 'xsl-fo-compatible',
  svg: 'svg-compatible',
})
  .map(([prefix, name]) => `xmlns:${prefix}="${OASIS}:${name}:1.0"`)
  .join(' ')} xmlns:xlink="http://www.w3.org/1999/xlink"`;

export interface OdtContent {
  readonly body: string;
  readonly styles?: string;
  readonly members?: Readonly<Record<string, string>>;
}

/** An OpenDocument text of the given inner XML; `styles` are its automatic ones. */
export const odt = ({ body, styles = '', members = {} }: OdtContent): Buffer =>
  zipOf({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'content.xml': `<?xml version="1.0"?><office:document-content ${ODT_NAMESPACES}>
      <office:automatic-styles>${styles}</office:automatic-styles>
      <office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    ...members,
  });

/** An OpenDocument spreadsheet of the given inner XML. */
export const ods = ({ body, styles = '', members = {} }: OdtContent): Buffer =>
  zipOf({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<?xml version="1.0"?><office:document-content ${ODT_NAMESPACES}>
      <office:automatic-styles>${styles}</office:automatic-styles>
      <office:body><office:spreadsheet>${body}</office:spreadsheet></office:body></office:document-content>`,
    ...members,
  });

const sourceOf = (bytes: Buffer): SourceFile => ({
  bytes,
  fileName: null,
  effort: 'standard',
  pagesMax: 100,
  languages: [],
  text: undefined,
  depth: 0,
  openPart: () => Promise.resolve({ kind: 'unsupported', detail: '' }),
});

/** What an opener makes of bytes: the document, or the failure. */
export async function openedBy(open: Opener, bytes: Buffer): Promise<Document | ParseFailure> {
  const opened = await open(sourceOf(bytes));
  if (opened.kind !== 'open') return opened;
  const read = await opened.read();
  return read.kind === 'ok' ? read.document : read;
}

/** The markdown of bytes that must be readable. */
export async function markdownBy(open: Opener, bytes: Buffer): Promise<string> {
  return markdownOf(await documentBy(open, bytes));
}

export async function documentBy(open: Opener, bytes: Buffer): Promise<Document> {
  const opened = await openedBy(open, bytes);
  if ('kind' in opened) throw new Error(JSON.stringify(opened));
  return opened;
}
