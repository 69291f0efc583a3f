import type { Api } from '@quire/client';

export type Config = Awaited<ReturnType<Api['listConfigs']>>['items'][number];

/** What a version says, as text to compare: without when and by whom it was published. */
export const textOf = ({ name, mode, min_confidence, artifact_id, schema, llm, ocr }: Config): string =>
  JSON.stringify({ name, mode, min_confidence, artifact_id, schema, llm, ocr }, undefined, 2);

/** How many fields the schema has at its top. */
export const fieldsOf = ({ schema }: Config): number => {
  const properties: unknown = schema?.['properties'];
  return typeof properties === 'object' && properties !== null ? Object.keys(properties).length : 0;
};

/** JSON of an object; undefined where the text is none. */
export const parsedObject = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
};
