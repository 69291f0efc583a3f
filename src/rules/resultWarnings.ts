import type { Json, JsonObject } from '../../domain/kernel/json.ts';

/** Something to know of a result, beside what the engine tells. */
interface ResultWarning {
  readonly code: 'nothing_found' | 'other_type';
  readonly message: string;
}

/** What is asked of a document, and what came of it. */
interface Answered {
  readonly schema: JsonObject;
  readonly value: Json;
  readonly mimeType: string;
  readonly file_name: string | null;
  readonly pages: number;
  readonly hasText: boolean;
}

/** Types by the endings of names that say one. */
const TYPES: Readonly<Record<string, RegExp>> = {
  pdf: /^application\/pdf$/,
  png: /^image\//,
  jpg: /^image\//,
  jpeg: /^image\//,
  tif: /^image\//,
  tiff: /^image\//,
  docx: /wordprocessingml/,
  xlsx: /spreadsheetml/,
  pptx: /presentationml/,
};

const hasValue = (value: Json | undefined): boolean => {
  if (value === null || value === undefined) return false;
  if (typeof value !== 'object') return true;
  return Object.values(value as Readonly<Record<string, Json>>).some(hasValue);
};

const fieldsOf = ({ properties }: JsonObject): number =>
  typeof properties === 'object' && properties !== null ? Object.keys(properties).length : 0;

const counted = (count: number, one: string): string => `${String(count)} ${one}${count === 1 ? '' : 's'}`;

const nothingFound = ({ schema, value, mimeType, pages, hasText }: Answered): readonly ResultWarning[] => {
  const fields = fieldsOf(schema);
  if (fields === 0 || hasValue(value)) return [];
  const why = hasText
    ? 'Its text says none of them: check that it is the kind of document that the schema is for.'
    : 'It has no text that could be read.';
  const message =
    `Nothing was found: the schema asks for ${counted(fields, 'field')}, ` +
    `and the document is ${mimeType} of ${counted(pages, 'page')}. ${why}`;
  return [{ code: 'nothing_found', message }];
};

const otherType = ({ file_name, mimeType }: Answered): readonly ResultWarning[] => {
  const ending = /\.([a-z]{3,4})$/.exec(file_name?.toLowerCase() ?? '')?.[1] ?? '';
  const said = Object.hasOwn(TYPES, ending) ? TYPES[ending] : undefined;
  if (said === undefined || said.test(mimeType)) return [];
  const message = `The name of the file ends in .${ending}, but it is ${mimeType}, and was read as that.`;
  return [{ code: 'other_type', message }];
};

/** Says why a result has nothing in it, and that a file is not what its name says. */
export const resultWarnings = (answered: Answered): readonly ResultWarning[] => [
  ...nothingFound(answered),
  ...otherType(answered),
];
