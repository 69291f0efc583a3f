import { OASIS, zipOf } from './officeFiles.ts';

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const NAMESPACES =
  'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" ' +
  'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ' +
  'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" ' +
  `xmlns:r="${OFFICE}"`;

/** Relationships: id, kind and target, by two. */
const relationships = (all: readonly (readonly [string, string, string])[]): string =>
  `<Relationships xmlns="${PACKAGE}">${all
    .map(([id, type, target]) => {
      const mode = target.startsWith('http') ? ' TargetMode="External"' : '';
      return `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"${mode}/>`;
    })
    .join('')}</Relationships>`;

const part = (name: string, content: string, attributes = ''): string =>
  `<?xml version="1.0"?><p:${name} ${NAMESPACES} ${attributes}>${content}</p:${name}>`;

export interface SlideContent {
  /** Inner XML of the slide's tree of shapes. */
  readonly shapes: string;
  readonly isHidden?: boolean;
  readonly notes?: string;
  /** Other parts that it points to: id, kind and target. */
  readonly near?: readonly (readonly [string, string, string])[];
}

export interface PptxContent {
  readonly slides: readonly SlideContent[];
  /** Inner XML of the layout's tree of shapes. */
  readonly layout?: string;
  /** Inner XML of the master's text styles. */
  readonly styles?: string;
  readonly members?: Readonly<Record<string, string>>;
}

/** A PowerPoint presentation whose slides share one layout and one master. */
export function pptx({ slides, layout = '', styles = '', members = {} }: PptxContent): Buffer {
  const ids = slides.map((_, i) => `<p:sldId id="${256 + i}" r:id="s${i}"/>`).join('');
  const parts = slides.flatMap(
    ({ shapes, isHidden = false, notes, near = [] }, i): (readonly [string, string])[] => {
      const own: [string, string, string][] = [['l', 'slideLayout', '../slideLayouts/layout.xml']];
      if (notes !== undefined) own.push(['n', 'notesSlide', `../notesSlides/notes${i}.xml`]);
      return [
        [`ppt/slides/slide${i}.xml`, part('sld', tree(shapes), isHidden ? 'show="0"' : '')],
        [`ppt/slides/_rels/slide${i}.xml.rels`, relationships([...own, ...near])],
        ...(notes === undefined
          ? []
          : [
              [
                `ppt/notesSlides/notes${i}.xml`,
                part('notes', tree(shape(text(notes), { kind: 'body' }))),
              ] as const,
            ]),
      ];
    },
  );
  return zipOf({
    '_rels/.rels': relationships([['d', 'officeDocument', 'ppt/presentation.xml']]),
    'ppt/presentation.xml': part('presentation', `<p:sldIdLst>${ids}</p:sldIdLst>`),
    'ppt/_rels/presentation.xml.rels': relationships(
      slides.map((_, i) => [`s${i}`, 'slide', `slides/slide${i}.xml`]),
    ),
    'ppt/slideLayouts/layout.xml': part('sldLayout', tree(layout)),
    'ppt/slideLayouts/_rels/layout.xml.rels': relationships([
      ['m', 'slideMaster', '../slideMasters/master.xml'],
    ]),
    'ppt/slideMasters/master.xml': part('sldMaster', `${tree('')}<p:txStyles>${styles}</p:txStyles>`),
    ...Object.fromEntries(parts),
    ...members,
  });
}

const tree = (shapes: string): string => `<p:cSld><p:spTree>${shapes}</p:spTree></p:cSld>`;

export interface ShapeLook {
  /** Of a placeholder. */
  readonly kind?: string;
  /** Where it lies, in EMU. */
  readonly at?: readonly [number, number];
}

/** A shape of paragraphs. */
export function shape(paragraphs: string, { kind, at }: ShapeLook = {}): string {
  const placeholder = kind === undefined ? '' : `<p:ph type="${kind}"/>`;
  const place = at === undefined ? '' : `<a:xfrm><a:off x="${at[0]}" y="${at[1]}"/></a:xfrm>`;
  return (
    `<p:sp><p:nvSpPr><p:cNvPr id="2" name=""/><p:nvPr>${placeholder}</p:nvPr>` +
    `</p:nvSpPr><p:spPr>${place}</p:spPr><p:txBody>${paragraphs}</p:txBody>` +
    '</p:sp>'
  );
}

/** A paragraph; a text stands for a plain run, other XML for itself. */
export const text = (content: string, properties = ''): string =>
  `<a:p><a:pPr ${properties.startsWith('<') ? '>' + properties : properties + '>'}</a:pPr>` +
  `${content.startsWith('<') ? content : run(content)}</a:p>`;
export const run = (content: string, properties = ''): string =>
  `<a:r><a:rPr ${properties.startsWith('<') ? '>' + properties : properties + '>'}</a:rPr><a:t>${content}</a:t></a:r>`;

const ODP_NAMESPACES = Object.entries({
  office: 'office',
  text: 'text',
  draw: 'drawing',
  presentation: 'presentation',
  style: 'style',
})
  .map(([prefix, name]) => `xmlns:${prefix}="${OASIS}:${name}:1.0"`)
  .join(' ');

/** An OpenDocument presentation of the given pages; `styles` are its automatic ones. */
export const odp = (pages: string, styles = ''): Buffer =>
  zipOf({
    mimetype: 'application/vnd.oasis.opendocument.presentation',
    'content.xml': `<?xml version="1.0"?><office:document-content ${ODP_NAMESPACES}>
      <office:automatic-styles>${styles}</office:automatic-styles>
      <office:body><office:presentation>${pages}</office:presentation></office:body></office:document-content>`,
  });
