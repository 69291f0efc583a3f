import type { FilePart, ImagePart, ModelMessage } from 'ai';
import type { JsonObject } from '../../kernel/json.ts';
import type { ModelAttachment, ModelTurn } from '../../ports/modelProvider.ts';

/** What a model is shown comes before the words about it. */
export const messagesOf = (turns: readonly ModelTurn[]): ModelMessage[] =>
  turns.map(({ role, text, attachments = [] }) =>
    role === 'assistant'
      ? { role, content: text }
      : { role, content: [...attachments.map(partOf), { type: 'text', text }] },
  );

const partOf = ({ mimeType, bytes, fileName }: ModelAttachment): FilePart | ImagePart =>
  mimeType.startsWith('image/')
    ? { type: 'image', image: bytes, mediaType: mimeType }
    : { type: 'file', data: bytes, mediaType: mimeType, filename: fileName ?? 'document.pdf' };

/** For models that cannot be held to a schema: they are told it. */
export const withSchema = (system: string, schema: JsonObject): string =>
  `${system}\n\nAnswer with one JSON object that is valid by this JSON Schema, and with ` +
  `nothing else:\n${JSON.stringify(schema)}`;
